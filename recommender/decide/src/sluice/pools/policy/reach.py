"""Where one change may lead: a factor 2 either way, within the constraints.

A pool that collapses goes further down, and what another's change took away is gone back to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log

from sluice.pools.estimate.model import Estimate
from sluice.pools.policy.compiled_worth import FULL_SHARE, LOOK_FACTOR, LOOK_SHARE
from sluice.pools.policy.observation import Constraints
from sluice.pools.policy.state import Facts
from sluice.pools.policy.worth import Choice, Outlook

LARGEST_STEP = 2
# In ln X, and in standard deviations, what the best size does more than a pool that collapses.
COLLAPSE_GAIN, COLLAPSE_SURE_BY, LARGEST_LEAP = log(1.5), 2.0, 8


def bounds(bound: Constraints) -> tuple[int, int]:
    """The sizes that are legal for the pool itself, whatever its backend leaves to it now."""
    return bound.least, max(bound.least, bound.own_most or bound.most)


def reach(current: int, before: int | None, bound: Constraints, full: float) -> tuple[int, int]:
    """The sizes that one change leads to; none where the first is above the second."""
    high = max(largest(current, full), before or 0)
    return max(bound.least, smallest(current, before)), min(bound.most, high)


def smallest(current: int, before: int | None) -> int:
    """A step down, or back to what another's change took away."""
    return min(-(-current // LARGEST_STEP), before or current)


def collapses(outlook: Outlook) -> bool:
    """Whether the size in force surely does less than two thirds of what the best one does."""
    return outlook.gain >= COLLAPSE_GAIN and outlook.sure_by >= COLLAPSE_SURE_BY


def leap(outlook: Outlook, current: int) -> int:
    """How far down a full pool that collapses may go at once, as each second of a step queues requests: to the largest
    of the sizes that are as good as the best one.

    Worked, 13 to 18 as good as the best: from 128 to 18, from 30 to 15, as in a step.
    """
    return max(min(outlook.upper, smallest(current, None)), -(-current // LARGEST_LEAP))


def largest(current: int, full: float) -> int:
    """Twice the size where the pool is full all the time; a third more where it is full half of the time, and at least
    one; where it is not, no more is needed.

    At 10 threads, full in half of the buckets, twice as many were believed to complete a little more, as none above 8
    had been seen: three seconds of 20 made p99 1.5 times as high.
    """
    if full >= LOOK_SHARE:
        return current * LARGEST_STEP
    return max(current + 1, int(current * LOOK_FACTOR)) if full >= FULL_SHARE else current


def near(size: int | None, current: int | None, facts: Facts) -> int | None:
    """As far towards a size as one step goes, unless it was decided for the very size in force; where targets differ,
    each actuator sees to that itself."""
    if size is None or current is None or decided_for(facts, current) is not None:
        return size
    return min(max(size, smallest(current, None)), current * LARGEST_STEP)


def of_most(sizes: Iterable[int | None]) -> int | None:
    """The size that most targets have, of as many the larger; None where none has a limit. Of targets that never were
    seen alike it changes the fewest."""
    counted = Counter(size for size in sizes if size is not None)
    return max(counted, key=lambda size: (counted[size], size), default=None)


def legal(size: int | None, bound: Constraints) -> int | None:
    """The nearest one. Where a backend leaves less than the pool's least, that is its size."""
    return None if size is None else max(min(size, bound.most), bound.least, 1)


def named_choice(named: Estimate, current: int | None, before: int | None, bound: Constraints) -> Choice | None:
    """The size of a published model, as near as may be gone to at once; None where it names none, or the one in force.

    Of a pool that has no size yet, the size itself: there is nothing to step from.
    """
    if named.target is None:
        return None
    size = named.target
    if current is not None:
        size = min(max(size, smallest(current, before)), current * LARGEST_STEP)
    size = max(min(size, bound.most), bound.least, 1)
    return None if size == current else Choice(size, gain=0.0, sure_by=0.0, look=False)


def decided_for(facts: Facts, current: int | None) -> int | None:
    """What was decided when this was in force, or leads to it, and is not read back yet."""
    change = facts.change
    return change.to_size if change is not None and (change.from_size == current or facts.on_the_way(current)) else None


def by_another(facts: Facts, current: int) -> bool:
    """Whether somebody else set the size in force: it is neither the last one nor what was decided, nor on the way
    there."""
    change = facts.change
    if current == facts.current or change is None:
        return current != facts.current
    on_the_way = facts.on_the_way(current) and facts.current != change.to_size
    return current not in (change.from_size, change.to_size) and not on_the_way
