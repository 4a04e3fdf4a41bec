"""The decision of a pool, with what an actuator is to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sluice.model.states import State


class Action(Enum):
    """An actuator needs to understand only this."""

    HOLD = "HOLD"
    APPLY = "APPLY"


class Basis(Enum):
    """The basis of a target size."""

    CURVE = "CURVE"
    """The belief over the curve, from evidence on this CPU limit."""
    PROBE = "PROBE"
    """A look: the size is not known to be better, but is worth 3 s or more."""
    REVERT = "REVERT"
    """Back to the size before the last change, which turned out worse."""
    MEMORY = "MEMORY"
    """Evidence of this version of the service from before another version replaced it."""
    CARRIED = "CARRIED"
    """Evidence from another CPU limit."""
    HELD = "HELD"
    """No better size is known than the one in force."""
    OPERATOR = "OPERATOR"


class Advised(Enum):
    """The kinds of advice on the hardware under a pool (advise.py)."""

    SCALE_OUT = "SCALE_OUT"
    """No size completes the demand in time on this hardware."""
    SCALE_IN = "SCALE_IN"
    """Half of the hardware would complete all of the demand."""
    KEEP = "KEEP"
    """Neither is known."""


@dataclass(frozen=True)
class Advice:
    """Advice for people and hardware autoscalers; Sluice does not carry it out. Rates are of one instance.

    - since_ms: when this kind of advice began.
    - asked_per_s: calls that ended, in time or not. in_time: the part of them in time, 0..1; None where no caller's
      spans show it.
    - best: the size that completes most, of the legal sizes at which requests stay no longer than the threshold.
      best_per_s: its expected completions.
    - cores: the CPU limit of one instance. replicas: their number. Both as reported; None where nobody reported them.
    - to_cores, to_replicas: either one suffices, with the other left as it is. None where the present value is unknown,
      or more of it is not known to help.
    """

    kind: Advised
    since_ms: int
    asked_per_s: float
    in_time: float | None
    best: int
    best_per_s: float
    cores: float | None
    replicas: int | None
    to_cores: float | None
    to_replicas: int | None


@dataclass(frozen=True)
class Decision:
    """One decision of a pool.

    - targets: the instances that the target is for, () for all. The others keep the size that they have.
    - target: the size. None where there is neither a size in force nor a baseline; never 0.
    - lower..upper: the sizes that are expected to lose less than 1 % against the best; None without a belief.
    - loss: expected loss of the size in force against the best one, as a part of the best one's throughput; None
      without a belief.
    - unguarded: the best size within the pool's own bounds.
    - confidence: 0..1. Of a change, how likely it is not worse. Of a held size, how likely the best one loses under 3
      %; lower while there is little evidence (conclusion.py). With a published model, the model's own value.
    - reasons: pairs of a code and a text for people.
    - advice: None where there is none.
    """

    target: int | None
    basis: Basis
    action: Action
    state: State
    reasons: tuple[tuple[str, str], ...] = ()
    lower: int | None = None
    upper: int | None = None
    unguarded: int | None = None
    loss: float | None = None
    confidence: float = 0.0
    targets: tuple[str, ...] = ()
    advice: Advice | None = None
