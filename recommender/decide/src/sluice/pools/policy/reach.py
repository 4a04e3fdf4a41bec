"""Where one change may lead: a factor 2 either way, within the constraints; back to what another's change took away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sluice.pools.estimate.model import Estimate
from sluice.pools.policy.compiled_worth import FULL_SHARE, LOOK_FACTOR, LOOK_SHARE
from sluice.pools.policy.observation import Constraints
from sluice.pools.policy.state import Facts
from sluice.pools.policy.worth import Choice

LARGEST_STEP = 2


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
    """What was decided when this was in force, and is not read back yet."""
    change = facts.change
    return change.to_size if change is not None and change.from_size == current else None


def by_another(facts: Facts, current: int) -> bool:
    """Whether somebody else set the size in force: it is neither the last one nor what was decided, nor on the way
    there, as an actuator may take steps of its own."""
    change = facts.change
    if current == facts.current or change is None:
        return current != facts.current
    low, high = sorted((change.from_size, change.to_size))
    return not low <= current <= high
