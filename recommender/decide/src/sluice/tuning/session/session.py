"""All that is known of a tuning session: what it was created with, and its trials in the order of their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.enough import Window
from sluice.tuning.objective.objective import Objective
from sluice.tuning.objective.outcome import Outcome, Verdict
from sluice.tuning.session.confirm import Gain
from sluice.tuning.space import Configuration, Space

# Trials of a search that all failed, the default's among them: then it is not the configurations.
FAILED_AT_FIRST = 3


class Phase(Enum):
    """Where a session is: forward only. Nothing is asked for in the last two."""

    SEARCHING = "looks for a better configuration"
    CONFIRMING = "measures the best one and the default in turn"
    DONE = "has its answer"
    STOPPED = "was stopped"


class Purpose(Enum):
    """What a trial is for."""

    SEARCH = "the default (trial 0), or what the method named"
    DEFAULT = "the default again, beside the winner"
    WINNER = "the winner again, beside the default"


@dataclass(frozen=True)
class Root:
    """The requests that the pipeline measures: SERVER spans of a service. operation: empty for all of them."""

    service: str
    operation: str = ""


@dataclass(frozen=True)
class Plan:
    """What a session was created with.

    target    the application whose configuration is set; at most one session is open on it
    seed      of all chance
    budget    trials of the search, without the default's
    parallel  trials that may be in flight in the search, on as many copies of the application
    pairs     of default and winner that confirm, 0 or at least 2; 0: the winner is not confirmed
    patience_ms  how long after it was asked for a trial may be told; then it has failed
    first     configurations that are tried first: of an earlier session (`warm.first`), or by hand
    root      whose requests the objective is of, as the pipeline measures them; None: callers tell outcomes
    """

    name: str
    target: str
    space: Space
    objective: Objective
    method: str = "dds"
    seed: int = 0
    budget: int = 15
    parallel: int = 1
    pairs: int = 5
    patience_ms: int = 600_000
    window: Window = field(default_factory=Window)
    first: tuple[Configuration, ...] = ()
    root: Root | None = None

    @property
    def cpu(self) -> bool:
        """Whether the CPU time of a request is asked for."""
        return Metric.CPU in self.objective.metrics


@dataclass(frozen=True)
class Trial:
    """One configuration, tried once. Times are Unix ms.

    point       in the unit cube, as the method asked for it
    request_id  of the call that asked for it
    of          of a confirming trial: the number of the trial that is confirmed
    place       how many trials were told before it; None: it is in flight
    applied_ms  since when it is in force, where that was told: the pipeline measures it
    """

    number: int
    purpose: Purpose
    configuration: Configuration
    point: tuple[float, ...]
    request_id: str
    asked_ms: int
    due_ms: int
    of: int | None = None
    outcome: Outcome | None = None
    told_ms: int | None = None
    place: int | None = None
    applied_ms: int | None = None


@dataclass(frozen=True)
class Session:
    """`now_ms`: the newest time that an event had; it never falls. `refuted`: winners that failed to be confirmed."""

    plan: Plan
    created_ms: int
    now_ms: int
    phase: Phase = Phase.SEARCHING
    trials: tuple[Trial, ...] = ()
    refuted: tuple[int, ...] = ()
    gain: Gain | None = None
    ended_ms: int | None = None
    why: str = ""

    @property
    def flying(self) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if trial.outcome is None)

    @property
    def searched(self) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if trial.purpose is Purpose.SEARCH)

    @property
    def only_failed(self) -> bool:
        """Whether all that the search was told failed, the default too: nothing more is tried."""
        told = [trial.outcome.verdict for trial in self.searched if trial.outcome]
        default = bool(self.trials and self.trials[0].outcome)
        return default and len(told) >= FAILED_AT_FIRST and set(told) == {Verdict.FAILED}

    @property
    def best(self) -> Trial | None:
        """The good trial of the least value that was not refuted, the default's too; the first of equal ones."""
        good = [
            trial
            for trial in self.searched
            if trial.outcome and trial.outcome.verdict is Verdict.GOOD and trial.number not in self.refuted
        ]
        return min(good, key=value, default=None)

    @property
    def recommended(self) -> Configuration:
        """What to set: the winner where it is known to be better, else the default. Without pairs: the best seen."""
        best = self.best
        if self.phase is not Phase.DONE or best is None:
            return self.plan.space.default
        sure = self.gain is not None and self.gain.lower > 0
        return best.configuration if sure or not self.plan.pairs else self.plan.space.default


def value(trial: Trial) -> float:
    """Of a trial that was told and has a value; inf of any other."""
    known = trial.outcome.value if trial.outcome else None
    return float("inf") if known is None else known
