"""What is said of a pool, and what an actuator is to do with it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sluice.model.states import State


class Action(Enum):
    """All that an actuator has to understand."""

    HOLD = "HOLD"
    APPLY = "APPLY"


class Basis(Enum):
    """What a target stands on."""

    CURVE = "CURVE"
    """The belief over the curve, from what was seen on this CPU limit."""
    PROBE = "PROBE"
    """Not known to be better, but worth three seconds."""
    REVERT = "REVERT"
    """Back to the size before the last change, which turned out worse."""
    MEMORY = "MEMORY"
    """What was seen of this version of the service before it was away."""
    CARRIED = "CARRIED"
    """What was seen on another CPU limit."""
    LEARNED = "LEARNED"
    """What a policy that learns has learnt."""
    HELD = "HELD"
    """No better size is known than the one in force."""
    OPERATOR = "OPERATOR"


class Advised(Enum):
    """What is said of the hardware under a pool (advise.py)."""

    SCALE_OUT = "SCALE_OUT"
    """No size does what is asked in time on this hardware."""
    SCALE_IN = "SCALE_IN"
    """Half of it would do all that is asked."""
    KEEP = "KEEP"
    """Neither is known."""


@dataclass(frozen=True)
class Advice:
    """For people and hardware autoscalers: nothing of it is done here. Rates are of one instance.

    since_ms: when the kind was said first. asked_per_s: calls that ended, in time or not; in_time: the part of them
    that was, 0..1, None where no caller's spans told. best: the size that completes most, of those that are legal and
    let requests stay no longer than the threshold; best_per_s: what it does, as is believed. cores: the CPU limit of
    one instance, and replicas, as told; None where nobody did. to_cores, to_replicas: either would do, the other left
    as it is; None where nobody told what there is, or more of it is not known to help.
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
    """targets: the instances that the target is for, () for all; the others are to leave what they have.
    target: None when there is neither a size in force nor one that was ever good; never 0.

    lower..upper: the sizes that lose less than 1 % against the best, as far as is believed; None without a belief.
    loss: expected loss of the size in force against the best one, as a part of its throughput; None without a belief.
    unguarded: the best within the pool's own bounds. confidence: of a change, how likely it is no worse, of a size that
    is held, how likely the best one loses under 3 %, less while little was seen
    (step.py), or what a published model says, 0..1. reasons: codes, for people, each with a text. advice: None where
    nothing is to be said.
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
