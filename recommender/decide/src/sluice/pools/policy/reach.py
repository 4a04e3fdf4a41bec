"""The sizes that one change may lead to: a factor of 2 up or down, within the constraints.

A pool that collapses goes further down. A size that somebody else's change replaced may be restored at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log

from sluice.fast.worth import FULL_SHARE, LOOK_FACTOR, LOOK_SHARE
from sluice.pools.estimate.model import Estimate
from sluice.pools.policy.observation import Constraints
from sluice.pools.policy.state import Facts
from sluice.pools.policy.worth import Choice, Outlook

LARGEST_STEP = 2
# From this share of the newest seconds on in which it is full, a pool for which callers wait may grow by a third.
QUEUED_SHARE = 0.1
# Up to so many times the size where as many callers wait.
LARGEST_GROWTH = 4
# A pool collapses where the best size completes so much more, in ln X and in standard deviations. A leap is by a factor
# of 8 at most.
COLLAPSE_GAIN, COLLAPSE_SURE_BY, LARGEST_LEAP = log(1.5), 2.0, 8
# New threads a core that may compute at once.
ADMITTED_A_CORE = 4


def bounds(bound: Constraints) -> tuple[int, int]:
    """The legal sizes of the pool itself, whatever its backend leaves to it now."""
    return bound.least, max(bound.least, bound.own_most or bound.most)


def reach(current: int, replaced: int | None, bound: Constraints, full: float, waiting: float = 0.0) -> tuple[int, int]:
    """The smallest and the largest size that one change leads to; none where the first is above the second. waiting:
    callers that wait for the pool."""
    high = max(largest(current, full, waiting), replaced or 0)
    return max(bound.least, smallest(current, replaced)), min(bound.most, high)


def smallest(current: int, replaced: int | None) -> int:
    """A step down, or back to the size that somebody else's change replaced."""
    return min(-(-current // LARGEST_STEP), replaced or current)


def collapses(outlook: Outlook) -> bool:
    """Whether the size in force surely completes less than two thirds of the best one's completions."""
    return outlook.gain >= COLLAPSE_GAIN and outlook.sure_by >= COLLAPSE_SURE_BY


def leap(outlook: Outlook, current: int) -> int:
    """How far down a full pool that collapses may go at once, since each second of a step queues requests: to the
    largest size of the range.

    Worked, a range of 13 to 18: from 128 to 18, from 30 to 15, as in a step.
    """
    return max(min(outlook.upper, smallest(current, None)), -(-current // LARGEST_LEAP))


def largest(current: int, full: float, waiting: float = 0.0) -> int:
    """The largest size that one change leads to. Twice the size where the pool is full all the time, and up to four
    times where more wait than it holds: by Little's law as many requests are in the system as it holds and as wait. A
    third more, and at least one, where it is full for half of the time, or for a tenth and targets report that callers
    wait for it: bursts fill it. Else the size itself.

    Worked, full, at 5: with 3 that wait to 10, with 12 to 17, with 40 to 20. Two connections of 61 ms, full for
    0.38 of 5 s under a series of NASA's: 40 s later a burst of it makes 38 of 710 requests late.

    At 10 threads, full in half of the buckets, the belief expected a little more from twice as many, as it had no
    evidence above 8: three seconds at 20 made p99 1.5 times as high.
    """
    if full >= LOOK_SHARE:
        return int(min(max(current * LARGEST_STEP, current + waiting), current * LARGEST_GROWTH))
    grows = full >= FULL_SHARE or (full >= QUEUED_SHARE and waiting > 0)
    return max(current + 1, int(current * LOOK_FACTOR)) if grows else current


def admitted(current: int, most: int, cores: float) -> int:
    """The largest size that one change leads to where evidence was just carried (waits.py): at least a third more, and
    4 threads a core more.

    Carried evidence is of requests at all stages. A pool that grows admits requests that all compute first. Worked, on
    8 cores: from 54 to 86, and not to 108, where 54 more runnable threads fell off a cliff at 38. From 10 on 4 cores to
    20.
    """
    return min(most, max(current + 1, int(current * LOOK_FACTOR), current + int(ADMITTED_A_CORE * cores)))


def near(size: int | None, current: int | None, facts: Facts) -> int | None:
    """As far towards a size as one step goes, unless the size was decided for the size in force. Where targets differ,
    each actuator bounds its own step."""
    if size is None or current is None or decided_for(facts, current) is not None:
        return size
    return min(max(size, smallest(current, None)), current * LARGEST_STEP)


def of_most(sizes: Iterable[int | None]) -> int | None:
    """The size that most targets have, the larger one in a tie; None where no target has a limit. It changes the fewest
    targets where all never had one size."""
    counted = Counter(size for size in sizes if size is not None)
    return max(counted, key=lambda size: (counted[size], size), default=None)


def legal(size: int | None, bound: Constraints) -> int | None:
    """The nearest legal size. Where a backend leaves less than the pool's least, the bounds hold that."""
    return None if size is None else max(min(size, bound.most), bound.least, 1)


def named_choice(named: Estimate, current: int | None, replaced: int | None, bound: Constraints) -> Choice | None:
    """The size of a published model, as near as one change leads to it; None where it names none, or the one in force.

    A pool without a known size gets the model's size itself: there is nothing to step from.
    """
    if named.target is None:
        return None
    size = named.target
    if current is not None:
        size = min(max(size, smallest(current, replaced)), current * LARGEST_STEP)
    size = max(min(size, bound.most), bound.least, 1)
    return None if size == current else Choice(size, gain=0.0, sure_by=0.0, look=False)


def decided_for(facts: Facts, current: int | None) -> int | None:
    """The decided size where `current` is the size before the change, or on the way, and the target is not read back
    yet."""
    change = facts.change
    return change.to_size if change is not None and (change.from_size == current or facts.on_the_way(current)) else None


def by_another(facts: Facts, current: int) -> bool:
    """Whether somebody else set the size in force: it is neither the last one, nor a decided one, nor on
    the way there."""
    change = facts.change
    if current == facts.current or change is None:
        return current != facts.current
    on_the_way = facts.on_the_way(current) and facts.current != change.to_size
    return current not in (change.from_size, change.to_size) and not on_the_way
