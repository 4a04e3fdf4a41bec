"""What is remembered between two runs of the solver: one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from sluice.subsets.application import Application
from sluice.subsets.churn import Named
from sluice.subsets.damping import Loads
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.microns.reference import Reference
from sluice.subsets.microns.settings import Settings
from sluice.subsets.microns.solve import Solved
from sluice.subsets.pace import Pace
from sluice.subsets.strategy import MICRONS
from sluice.subsets.trial import Measured, Trial


class Cause(Enum):
    """Why the solver ran."""

    START = "START"
    #: Containers came, went or were drained, or who calls whom is another.
    SCALING = "SCALING"
    #: Contention or load moved.
    DRIFT = "DRIFT"
    #: Latencies were learnt anew.
    TRAINED = "TRAINED"
    #: Weights go on towards the solution, of which they went a part of the way.
    WEIGHTS = "WEIGHTS"
    #: A change of weights made what is measured worse: it is taken back.
    REVERT = "REVERT"


@dataclass(frozen=True)
class When:
    """When the solver runs without being forced to.

    quiet_s: the least time between two runs for drift. drift: a utilization, 0 to 1, that moved by so much since the
    last run. load: the calls to a service, relative to those then.
    """

    quiet_s: float = 60.0
    drift: float = 0.1
    load: float = 0.2


@dataclass(frozen=True, eq=False)
class Inputs:
    """What is known now. `model` is the same object as long as nothing was learnt anew: no run trains.

    strategy: MICRONS, or the name of a rival. missing: what the application was made without, as lines for people.
    before: the connections that are there, of whoever knew the state; used where there is none. measured: by service
    how long its requests took lately.
    """

    application: Application
    model: LatencyModel
    settings: Settings = field(default_factory=Settings)
    when: When = field(default_factory=When)
    strategy: str = MICRONS
    missing: tuple[str, ...] = ()
    before: Named | None = None
    measured: Mapping[str, Measured] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Run:
    """One run of the solver. churn: the part of all connections that it changed. changed: connections by pair. moved:
    the part of all calls that weights alone brought elsewhere. notes: what was taken back, for people."""

    cause: Cause
    at_s: float
    churn: float
    changed: Mapping[tuple[str, str], int]
    moved: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class State:
    """solved: the newest solution, of `application` and `model`. held: what is wrong with what came since, where it
    stands for that, as lines for people. missing: what it was made without. at_s: of its run, as `now_s` of `plan`.

    loads: those that its weights are made for; earlier: those before it. paces: how fast the loads of each service go.
    trials: by service, changes of loads whose effect is not known yet. unfinished: services whose loads went a part of
    the way. anchors: by service, when it was best of late. best: the loads at the end of the way, as
    `solved.references`; none of strategies that do not know them."""

    solved: Solved
    application: Application
    model: LatencyModel
    at_s: float
    held: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    loads: Loads = field(default_factory=dict)
    earlier: Loads = field(default_factory=dict)
    paces: Mapping[str, Pace] = field(default_factory=dict)
    trials: Mapping[str, Trial] = field(default_factory=dict)
    unfinished: frozenset[str] = frozenset()
    anchors: Mapping[str, Trial] = field(default_factory=dict)
    best: Sequence[Reference] = ()
