"""What the planner remembers between two runs of the solver, as one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from sluice.subsets.application import Application
from sluice.subsets.churn import NamedConnections
from sluice.subsets.damping import Loads
from sluice.subsets.fixed import FixedFlows
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.microns.reference import Reference
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.solve import Solved
from sluice.subsets.own_load import Owns
from sluice.subsets.pace import WeightPace
from sluice.subsets.strategy import MICRONS
from sluice.subsets.trial import LoadTrial, MeasuredLatency


class Cause(Enum):
    """Why the solver ran."""

    START = "START"
    #: Containers came, went or were drained, or pairs came or went.
    SCALING = "SCALING"
    #: Contention or load moved.
    DRIFT = "DRIFT"
    #: The latency model was trained again.
    TRAINED = "TRAINED"
    #: Other callers follow their subsets, or the calls of those that do not go elsewhere.
    ADOPTION = "ADOPTION"
    #: Weights are a part of the way to the solution, and go on.
    WEIGHTS = "WEIGHTS"
    #: A change of weights made the measured latency worse, and is undone.
    REVERT = "REVERT"


@dataclass(frozen=True)
class SolverTrigger:
    """When the solver runs although nothing forces it.

    quiet_s: the least time between two runs for drift. drift: the change of a utilization, 0 to 1, since the last run
    that causes one. load: the same for the calls of a pair, relative to those of the last run.
    """

    quiet_s: float = 60.0
    drift: float = 0.1
    load: float = 0.2


class Drift(NamedTuple):
    """hosts: the number of used hosts with a utilization that moved by `SolverTrigger.drift` or more. pairs: the number
    of pairs with calls that moved by `SolverTrigger.load` or more. New hosts and pairs are not counted."""

    hosts: int = 0
    pairs: int = 0


NO_DRIFT = Drift()


@dataclass(frozen=True, eq=False)
class Inputs:
    """The present inputs. `model` is the same object until the model is trained again: no run trains.

    strategy: MICRONS, or the name of a rival. missing: the inputs that the application was built without, as lines for
    people. before: the connections in force, as another process left them; used where there is no state. measured: by
    service, the latency of its newest requests. fixed: the calls of callers that do not follow their subsets; the same
    object until other callers follow.
    """

    application: Application
    model: LatencyModel
    settings: MicronsSettings = field(default_factory=MicronsSettings)
    when: SolverTrigger = field(default_factory=SolverTrigger)
    strategy: str = MICRONS
    missing: tuple[str, ...] = ()
    previous: NamedConnections | None = None
    measured: Mapping[str, MeasuredLatency] = field(default_factory=dict)
    fixed: FixedFlows = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SolverRun:
    """One run of the solver. churn: the part of all connections that it changed. changed: changed connections by pair.
    moved: the part of all calls that weights alone moved to other containers. notes: what it undid, for people. stale:
    drift that the run left for the next one, because it only followed containers."""

    cause: Cause
    at_s: float
    churn: float
    changed: Mapping[tuple[str, str], int]
    moved: float = 0.0
    notes: tuple[str, ...] = ()
    stale: Drift = NO_DRIFT


@dataclass(frozen=True, eq=False)
class SubsetState:
    """solved: the newest solution, for `application` and `model`. problems: lines for people about later inputs that
    keep it in force. missing: the inputs that it was made without. at_s: the time of its run, as `now_s` of `plan`.

    loads: the loads that its weights aim at; earlier: those of the run before. paces: the step of each service's loads.
    trials: by service, changes of loads whose effect is not known yet. unfinished: services whose loads are a part of
    the way. anchors: by service, the best recent measurement. best: the loads at the end of the way, in the form of
    `solved.references`; empty for strategies that do not compute them. owns: by service, how much of its hosts'
    contention is its own load. fixed: as of `Inputs`, for this solution. realized, realized_earlier: as loads and
    earlier, the loads that callers bring: where connections are few, or callers do not follow, these are not what
    weights aim at. taken_back: by service, what was undone and whose p95 since then is not known yet: at_s is
    that of the undoing, baseline that before the change.
    """

    solved: Solved
    application: Application
    model: LatencyModel
    at_s: float
    problems: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    loads: Loads = field(default_factory=dict)
    earlier: Loads = field(default_factory=dict)
    paces: Mapping[str, WeightPace] = field(default_factory=dict)
    trials: Mapping[str, LoadTrial] = field(default_factory=dict)
    unfinished: frozenset[str] = frozenset()
    anchors: Mapping[str, LoadTrial] = field(default_factory=dict)
    best: Sequence[Reference] = ()
    owns: Owns = field(default_factory=dict)
    fixed: FixedFlows = field(default_factory=dict)
    realized: Loads = field(default_factory=dict)
    realized_earlier: Loads = field(default_factory=dict)
    taken_back: Mapping[str, LoadTrial] = field(default_factory=dict)
