"""Which sizes may be chosen at all, whatever is believed of them. Pure.

- A pool that was never full is not shrunk: there is nothing to gain at that load, and all to lose at the next. It was
  full where 3 s were, at its size or above, on any CPU limit, or where a target says so. What a change of ours added is
  taken from it without that, as the pool was full before.
- None is below what the busiest stretch of the remembered horizon needed (`need.py`).
- None that did harm, nor beyond it, until that is forgotten (`harm.py`).
"""

from __future__ import annotations

from math import log

import numpy as np

from sluice.pools.estimate.belief.family import SIZES, Floats
from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.harm import Trust
from sluice.pools.policy.need import BEST_SHARE, RESERVE, busiest
from sluice.pools.policy.observation import Occupancy
from sluice.pools.policy.pace import pace_of
from sluice.pools.policy.state import Facts, Learnt

# Seconds of a full pool without which it is not shrunk, and from which part of the size on they count.
FULL_S, OF_SIZE = 3.0, 0.85
# The same where it surely does less than half of what another size does (reach.py).
COLLAPSING_S = 2.0
# Seconds in which the operator's size was seen, before it is shrunk.
MEASURED_S = 2.0
# Older seconds count less: of the third, the first is 0.99.
COUNTED = 0.98
# Of the newest readings of a target, from which on it says that its pool is full. And that it is not, where of so many
# readings none had so much of the size in use: readings are moments, and between two a burst may fill the pool.
TOLD_FULL, TOLD_IDLE, TOLD_READINGS = 0.9, 0.7, 10


def was_full(learnt: Learnt, size: int, told: Occupancy | None, least_s: float = FULL_S) -> bool:
    """Worked, a size of 16: 13.6 in flight on average, of seconds that were full, for 3 s."""
    if told is not None and told.full_share >= TOLD_FULL:
        return True
    least = log(OF_SIZE * size)
    table = learnt.evidence.table
    if len(table) == 0:
        return False
    full, seconds, in_flight_s = table[:, 1] > 0, table[:, 5], table[:, 6]
    at = full & (in_flight_s > 0) & (np.log(np.maximum(in_flight_s, 1e-9) / seconds) >= least)
    return float(seconds[at].sum()) >= COUNTED * least_s


def least_needed(learnt: Learnt, now: Posterior, current: int) -> int:
    """`need.py` has the formula; at most the size in force."""
    peak = busiest(learnt.peaks)
    sizes = SIZES[current >= SIZES]
    if peak <= 0 or len(sizes) == 0 or len(now.rows) == 0:
        return 1
    does: Floats = np.exp(now.predict_each(sizes.astype(np.float64), np.ones(len(sizes), dtype=bool))[0])
    enough = np.flatnonzero(does >= min(RESERVE * peak, BEST_SHARE * float(does.max())))
    return int(sizes[enough[0]]) if len(enough) else current


def floor(facts: Facts, learnt: Learnt, current: int, told: Occupancy | None, least_s: float = FULL_S) -> int:
    """The smallest size that the pool may be shrunk to: of one that was full, any, unless it is the operator's and was
    not measured yet: what it does is what the guard judges all others by.

    Worked: 14 were full, and 27 are looked at and worse: 14, from the first second on.
    """
    if current == facts.trust.operator and not _measured(learnt, current):
        return current
    if was_full(learnt, current, told, least_s):
        return 1
    change = facts.change
    ours = change is not None and change.to_size == current and change.from_size < current
    return change.from_size if change is not None and ours else current


def _measured(learnt: Learnt, size: int) -> bool:
    """Whether the newest half minute has 2 s of it; a decider that has just begun has nothing, and asks nothing."""
    pace = pace_of(learnt.beats, size)
    return not learnt.beats or (pace is not None and pace.seconds >= MEASURED_S)


def narrowed(reach: tuple[int, int], floor: int, trust: Trust, now_ms: int) -> tuple[int, int]:
    """Of the sizes that one change leads to, those that are refused left out, and those below the floor; none where the
    first is above the second."""
    low, high = unrefused(reach, trust, now_ms)
    return max(low, floor), high


def unrefused(sizes: tuple[int, int], trust: Trust, now_ms: int) -> tuple[int, int]:
    """Without those that did harm. Worked, 1 to 100: 13 was too many from 12, and 8 too few from 16: 9 to 12."""
    low, high = sizes
    for each in trust.refused:
        if now_ms >= each.until_ms:
            continue
        if each.size < each.from_size:
            low = max(low, each.size + 1)
        else:
            high = min(high, each.size - 1)
    return low, high


def larger_tried(learnt: Learnt, current: int, cores: float) -> bool:
    """Whether a full pool was seen on this CPU limit that is larger by a quarter or more."""
    table = learnt.evidence.table
    if len(table) == 0:
        return False
    at = (table[:, 0] == cores) & (table[:, 1] > 0) & (table[:, 6] >= 1.25 * current * table[:, 5])
    return bool(at.any())
