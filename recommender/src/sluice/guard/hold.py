"""Which size to propose for each state of an estimate. Missing data never becomes a size of 0, and never a shrink."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sluice.estimate import Estimate, Reason, State

# One step of exploration: a quarter of the current size, rounded up.
EXPLORE_SHARE = 0.25


@dataclass(frozen=True)
class LastGood:
    """The newest target that came from a curve; `at_ms`: Unix time of the estimate."""

    target: int
    at_ms: int


@dataclass(frozen=True)
class Situation:
    """What is known of a pool beside its estimate.

    current         size that an actuator read back within the last minute, None when unknown
    unchanged_ms    how long that size has been in force, as far as reports go
    since_change_ms how long ago the size was seen to change, None when it never was
    """

    now_ms: int
    current: int | None
    unchanged_ms: int
    last_good: LastGood | None
    window_ms: int
    explore_after_ms: int
    since_change_ms: int | None = None


@dataclass(frozen=True)
class Proposal:
    """A size on its way to the guard; None when there is nothing to apply."""

    target: int | None
    reasons: tuple[Reason, ...]


def propose(estimate: Estimate, situation: Situation) -> Proposal:
    """PROVIDED: the estimate's target. UNSATURATED: the current size or a step above. Else: the last good target."""
    if estimate.state is State.PROVIDED:
        return Proposal(estimate.target, ())
    if estimate.state is State.UNSATURATED and situation.current is not None:
        return _keep_or_explore(estimate, situation, situation.current)
    if situation.last_good is None:
        return Proposal(None, ())
    target = situation.last_good.target
    return Proposal(target, (Reason("HELD", f"last good value {target} is repeated"),))


def _keep_or_explore(estimate: Estimate, situation: Situation, current: int) -> Proposal:
    """Grow a pool that hides its curve by a step, once a window, unless an optimum was found not long ago.

    Sora 3.2: "we gradually increase the allocation to find a new optimal value". Once a window, since older buckets
    come from the smaller pool. Not after a recent optimum: a pool of the right size is full in every burst, and
    would otherwise be grown and shrunk all the time. Later it is explored again, since what was best may have
    changed; too large for a few minutes costs little, too small costs as long as it lasts.
    """
    good = situation.last_good
    found_lately = good is not None and situation.now_ms - good.at_ms < situation.explore_after_ms
    if not estimate.pool_limited or found_lately or situation.unchanged_ms < situation.window_ms:
        return Proposal(current, (Reason("KEPT", f"the current size {current} is kept"),))
    step = math.ceil(current * EXPLORE_SHARE)
    return Proposal(current + step, (Reason("EXPLORE", f"{step} more than {current}, to see beyond the pool's size"),))
