"""Which size to try where no curve names one: a step up, a step down, or none."""

from __future__ import annotations

import math

from sluice.pools.estimate import Estimate, Reason
from sluice.pools.guard.situation import Proposal, Situation, known, lately
from sluice.pools.guard.trial import EARLY_MS

# One step of exploration: a quarter of the current size, rounded up.
EXPLORE_SHARE = 0.25
# A step down to where most completed: at most to half of the current size, as what it is compared with was not full.
HALF = 0.5


def keep_or_explore(estimate: Estimate, situation: Situation, current: int) -> Proposal:
    """Try another size, once a window, unless an optimum was found not long ago.

    Sora 3.2: "we gradually increase the allocation to find a new optimal value". Once a window, since older buckets
    come from the other size, or as soon as the step before is known to have gained. Not after a recent optimum: a
    pool of the right size is full in every burst, and would otherwise be grown and shrunk all the time. Later it is
    explored again, since what was best may have changed; too large for a few minutes costs little, too small costs as
    long as it lasts. An optimum from before the service changed does not count, nor one that starves its callers.
    Nothing is tried where another size is of no use, or lately gained nothing.
    """
    good = situation.last_good
    found_lately = good is not None and known(situation) and lately(good.at_ms, situation) and not situation.starving
    too_soon = situation.unchanged_ms < (EARLY_MS if situation.gained else situation.window_ms)
    direction = 0 if found_lately or too_soon else _direction(estimate, situation, current)
    if direction == 0:
        return Proposal(current, (Reason("KEPT", f"the current size {current} is kept"),))
    measured = situation.gained == direction
    if direction > 0:
        more = step(current)
        text = f"{more} more than {current}, to see beyond the pool's size"
        return Proposal(current + more, (Reason("EXPLORE", text),), explores=True, measured=measured)
    least, text = current - max(1, int(EXPLORE_SHARE * current)), f"{current} is always full, and no larger size gained"
    if situation.collapse is not None:
        least = max(math.ceil(HALF * current), situation.collapse.size)
        text = f"{current} completes less, full, than {situation.collapse.size} in flight did"
    return Proposal(max(1, least), (Reason("EXPLORE_DOWN", text),), explores=True, measured=measured)


def _direction(estimate: Estimate, situation: Situation, current: int) -> int:
    """Where a better size may lie: 1 above, -1 below, 0 where none is to be looked for.

    Up while the pool hides its curve. Down where it collapses when full; if that can as well be other requests than
    before, and if it is full all the time so that there is nothing to compare with, only after a step up has failed.
    """
    collapse, starving = situation.collapse, situation.starving
    up = (estimate.pool_limited or starving) and not situation.futile and not lately(situation.failed_up_ms, situation)
    below = collapse.size < current if collapse is not None else starving and current > 1
    down = below and not situation.served and not lately(situation.failed_down_ms, situation)
    if down and (situation.gained < 0 or (collapse is not None and collapse.repeated)):
        return -1
    if up:
        return 1
    return -1 if down and lately(situation.failed_up_ms, situation) else 0


def step(size: int) -> int:
    """One bounded step from a size. Worked: 1 -> 1, 8 -> 2, 10 -> 3."""
    return math.ceil(size * EXPLORE_SHARE)
