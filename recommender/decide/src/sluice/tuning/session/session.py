"""The state of a tuning session: its plan, and its trials in the order of their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.enough import TrialLength
from sluice.tuning.objective.objective import Objective
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.session.confirm import Gain
from sluice.tuning.space import Configuration, Space

# This many failed trials, the default's among them and no other outcome, end a search: the configurations are not the
# cause.
FAILED_AT_FIRST = 3


class Phase(Enum):
    """The phase of a session. It only goes forward. The last two allow no more trials."""

    SEARCHING = "looks for a better configuration"
    CONFIRMING = "measures the best one and the default in turn"
    DONE = "has its answer"
    STOPPED = "was stopped"


class Purpose(Enum):
    """The purpose of a trial."""

    SEARCH = "the default (trial 0), or what the method proposed"
    DEFAULT = "the default again, beside the winner"
    WINNER = "the winner again, beside the default"


@dataclass(frozen=True)
class MeasuredRoot:
    """The requests that the pipeline measures: SERVER spans of a service. operation: empty for all operations."""

    service: str
    operation: str = ""


@dataclass(frozen=True)
class Plan:
    """The settings of a session, fixed at its creation.

    target    the application to configure; at most one session is open on it
    seed      of all random numbers
    budget    trials of the search, without the default's
    parallel  trials that may be in flight in the search, on as many copies of the application
    pairs     confirming pairs of default and winner, 0 or at least 2; 0: the winner is not confirmed
    patience_ms  the time from the request for a trial to its report, at most; then the trial has failed
    first     configurations to try first: of an earlier session (`warm.first`), or by hand
    root      the requests that the pipeline measures; None: callers report outcomes
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
    window: TrialLength = field(default_factory=TrialLength)
    first: tuple[Configuration, ...] = ()
    root: MeasuredRoot | None = None

    @property
    def cpu(self) -> bool:
        """Whether the objective includes the CPU time of a request."""
        return Metric.CPU in self.objective.metrics


@dataclass(frozen=True)
class Trial:
    """One configuration, tried once. Times are Unix ms.

    point       in the unit cube, as the method proposed it
    request_id  of the call that asked for it
    of          for a confirming trial: the number of the trial that it confirms
    place       how many trials were reported before it; None: it is in flight
    applied_ms  since when it is in force, if reported: the pipeline measures it from then on
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
    """`now_ms`: the newest time of an event; it never goes back. `refuted`: winners that the confirmation refuted."""

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
        """Whether all reported trials of the search failed, the default's too: then the session asks for no more."""
        verdicts = [trial.outcome.verdict for trial in self.searched if trial.outcome]
        default = bool(self.trials and self.trials[0].outcome)
        return default and len(verdicts) >= FAILED_AT_FIRST and set(verdicts) == {TrialVerdict.FAILED}

    @property
    def best(self) -> Trial | None:
        """The good trial with the least value that was not refuted, the default's included; the first of equal ones."""
        good = [
            trial
            for trial in self.searched
            if trial.outcome and trial.outcome.verdict is TrialVerdict.GOOD and trial.number not in self.refuted
        ]
        return min(good, key=value, default=None)

    @property
    def recommended(self) -> Configuration:
        """The configuration to set: the winner if it is confirmed to be better, else the default. Without pairs: the
        best trial."""
        best = self.best
        if self.phase is not Phase.DONE or best is None:
            return self.plan.space.default
        sure = self.gain is not None and self.gain.lower > 0
        return best.configuration if sure or not self.plan.pairs else self.plan.space.default


def value(trial: Trial) -> float:
    """The value of a trial; inf for a trial without one."""
    known = trial.outcome.value if trial.outcome else None
    return float("inf") if known is None else known
