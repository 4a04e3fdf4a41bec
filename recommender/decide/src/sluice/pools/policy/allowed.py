"""The sizes that may be chosen at all, whatever the belief says. Pure.

- A pool that was never full is not shrunk: that gains nothing at its load, and loses much at the next peak. A
  pool was full after 3 full seconds at its size or above, on any CPU limit, or when a target reports it. What Sluice's
  own change added may be removed without that, since the pool was full before. A crowded pool is shrunk (crowded.py).
- No size is below what the busiest stretch of the horizon needed (`need.py`).
- No refused size, nor one beyond it, is chosen until the refusal ends (`trust.py`).
"""

from __future__ import annotations

from math import inf

from sluice.fast.worth import least_enough
from sluice.pools.estimate.belief.family import SIZES, Floats
from sluice.pools.policy.need import BEST_SHARE, RESERVE, busiest
from sluice.pools.policy.observation import Occupancy
from sluice.pools.policy.pace import after_a_stay, visit
from sluice.pools.policy.state import Facts, Learnt
from sluice.pools.policy.trust import Trust

# Seconds of a full pool without which it is not shrunk, and the part of the size in flight from which they count.
FULL_S, OF_SIZE = 3.0, 0.85
# The same where the size surely completes less than two thirds of the best one's completions (reach.py).
COLLAPSING_S = 2.0
# A size that is larger by this factor tells whether more would help.
LARGER = 1.25
# Seconds of the operator's size that must be seen before it is changed: after a request's first stay, or in all.
MEASURED_S, MEASURED_AT_MOST_S = 2.0, 10.0
# Older seconds have less weight: of three seconds, the first counts 0.99.
COUNTED = 0.98
# A target reports an idle pool where none of so many readings had this part of the size in use. Readings are moments:
# between two of them a burst may fill the pool.
TOLD_IDLE, TOLD_READINGS = 0.7, 10


def was_full(learnt: Learnt, size: int, occupancy: Occupancy | None, least_s: float = FULL_S) -> bool:
    """Whether the pool was full at this size or above for `least_s` seconds, or a target reports that it is. Coarse
    readings do not count.

    Worked, a size of 16: full seconds count from a mean of 13.6 in flight on, and 3 s of them suffice.
    """
    if occupancy is not None and occupancy.full:
        return True
    return learnt.evidence.full_s(OF_SIZE * size) >= COUNTED * least_s


def least_needed(learnt: Learnt, expected: Floats, current: int, slo_s: float = inf) -> int:
    """The smallest size that the busiest stretch needs, by the formula in `need.py`; at most the size in force.
    expected: `Prospects.expected`.

    Completions count with their part in time (worth.py), unless no size has half of them in time. Then the SLO may be
    wrong, and all completions count.
    """
    peak = busiest(learnt.peaks)
    if peak <= 0 or current < SIZES[0] or len(expected) == 0:
        return 1
    return least_enough(SIZES, expected, current, float(slo_s), RESERVE * peak, BEST_SHARE)


def floor(facts: Facts, learnt: Learnt, current: int, occupancy: Occupancy | None, least_s: float = FULL_S) -> int:
    """The smallest size that the pool may be shrunk to: any for a pool that was full.

    Worked: 14 were full, and a look at 27 is worse: the floor is 14 from the first second on.
    """
    if unmeasured(facts, learnt, current):
        return current
    if was_full(learnt, current, occupancy, least_s):
        return 1
    change = facts.change
    ours = change is not None and change.to_size == current and change.from_size < current
    return change.from_size if change is not None and ours else current


def unmeasured(facts: Facts, learnt: Learnt, current: int, after_stay: bool = False) -> bool:
    """Whether the operator's size is in force and the newest half minute has less than 2 s of it. It is neither shrunk
    nor enlarged before, because the guard judges all other sizes by it. A decider that has just begun has no beats, and
    does not wait for them.

    after_stay: the first stay of a request does not count, up to 10 s of the size. Fewer complete in it than later.

    Worked: an operator sets 7 while nothing completes at 13. The evidence asks for 13 at once; 7 first shows what it
    does. At 3, 1 a second completes in the first 6 s, which requests stay for, and 3 a second from then on.
    """
    if current != facts.trust.operator or not learnt.beats:
        return False
    if sum([beat.length_s for beat in learnt.beats if beat.size == current]) < MEASURED_S:
        return True
    if not after_stay:
        return False
    seen = visit(learnt.beats, current)
    long_enough = sum(beat.length_s for beat in seen) >= MEASURED_AT_MOST_S
    return not long_enough and sum(beat.length_s for beat in after_a_stay(seen)) < MEASURED_S


def narrowed(reach: tuple[int, int], floor: int, trust: Trust, now_ms: int) -> tuple[int, int]:
    """The sizes within reach without refused ones and those below the floor. No size is left where the first is above
    the second."""
    low, high = unrefused(reach, trust, now_ms)
    return max(low, floor), high


def unrefused(sizes: tuple[int, int], trust: Trust, now_ms: int) -> tuple[int, int]:
    """The sizes without refused ones. Worked, 1 to 100: 13 was too many from 12, and 8 too few from 16: 9 to 12."""
    low, high = sizes
    for refusal in trust.refused:
        if now_ms >= refusal.until_ms:
            continue
        if refusal.size < refusal.from_size:
            low = max(low, refusal.size + 1)
        else:
            high = min(high, refusal.size - 1)
    return low, high


def larger_tried_s(learnt: Learnt, current: int, cores: float) -> float:
    """Seconds of evidence of a full pool on this CPU limit that is larger by a quarter or more."""
    return learnt.evidence.full_s(LARGER * current, cores)
