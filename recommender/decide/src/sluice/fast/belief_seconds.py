"""The loops over the buckets and seconds of a pool, compiled by Numba as those over shapes are (`compiled.py`).

Each gives the same digits as the function that it is named after, and marks the cases that it leaves to that one.
"""

from __future__ import annotations

from enum import IntEnum
from math import floor, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from sluice.fast.belief import Floats, Ints, compiled


class SecondKind(IntEnum):
    """What buckets show: nothing, a full pool, a saturated one, or one that is not full. UNENDED: some of the requests
    in flight have not ended yet, which `evidence.second` corrects."""

    NOTHING = 0
    FULL = 1
    SATURATED = 2
    PARTIAL = 3
    UNENDED = 4


NOTHING, FULL, SATURATED, PARTIAL, UNENDED = (int(kind) for kind in SecondKind)


@compiled
def _other(first: float, after: float) -> bool:
    """Whether a value changed. Two unreported values (NaN) are the same."""
    return first != after and (first == first or after == after)


@compiled
def _sum(numbers: Floats) -> float:
    total = 0.0
    for number in numbers:
        total += number
    return total


@compiled
def _share_full(size: float, concurrency: Floats) -> float:
    least, count = min(size - 0.5, 0.9 * size), 0
    for concurrent in concurrency:
        if concurrent >= least:
            count += 1
    return count / len(concurrency)


@compiled
def _fills(concurrency: Floats, done: float, fills: float, grows: float) -> bool:
    third = max(1, len(concurrency) // 3)
    first, last = _sum(concurrency[:third]) / third, _sum(concurrency[-third:]) / third
    return last - first > fills * done and last > grows * first


@compiled
def _mixes(concurrency: Floats, mixes: float) -> bool:
    third = max(1, len(concurrency) // 3)
    least, most = inf, 0.0
    for at in range(0, len(concurrency) - third + 1, third):
        thirds = _sum(concurrency[at : at + third])
        least, most = min(least, thirds), max(most, thirds)
    return most > mixes * least


@compiled
def _kind(
    size: float,
    concurrency: Floats,
    done: float,
    since: float,
    shares: tuple[float, float, float],
    drains: tuple[float, float],
    fills: tuple[float, float, float],
    ended: float,
) -> int:
    if done <= 0:
        return NOTHING
    in_flight, most = _sum(concurrency), concurrency.max()
    mean = in_flight / len(concurrency)
    if not (since <= 0 or mean <= ended * since or most >= size or 4 * most < size):
        return UNENDED
    if in_flight <= 0 or most > drains[0] * max(size, concurrency.min()):
        return NOTHING
    if mean > max(drains[1] * size, size + 0.5):
        return NOTHING
    saturated, full, partial = shares
    share = _share_full(size, concurrency)
    if share < saturated and _fills(concurrency, done, fills[0], fills[1]):
        return NOTHING
    if share >= full:
        return SATURATED if share >= saturated else FULL
    return NOTHING if share > partial or (share > 0 and _mixes(concurrency, fills[2])) else PARTIAL


@compiled
def parts(
    buckets: tuple[Ints, Floats, Floats, Floats, Floats],
    bucket_s: float,
    now_ms: float,
    shares: tuple[float, float, float],
    drains: tuple[float, float],
    fills: tuple[float, float, float],
    ended: float,
) -> Floats:
    """The runs of buckets within a second under the same size and cores, in order, shape (p, 7). The columns: the first
    bucket and the one behind the last; the share of full ones, NaN where no size was reported; the kind, as above; mean
    in flight, completions and length.

    buckets: start_ms, concurrency, completions, size and cores, (n,) each, n > 0. shares, drains, fills, ended: as in
    `evidence.second`.
    """
    start_ms, concurrency, completions, size, cores = buckets
    rows, count, low = np.empty((len(start_ms), 7)), 0, 0
    for high in range(1, len(start_ms) + 1):
        if high < len(start_ms):
            same = start_ms[high] // 1_000 == start_ms[high - 1] // 1_000
            if same and not _other(size[high - 1], size[high]) and not _other(cores[high - 1], cores[high]):
                continue
        row, length = rows[count], (high - low) * bucket_s
        row[:] = 0.0
        row[0], row[1], row[2], row[3] = low, high, np.nan, NOTHING
        if size[low] == size[low]:
            of, limit = concurrency[low:high], float(floor(size[low]))
            row[2] = _share_full(limit, of)
            if cores[low] == cores[low]:
                done = _sum(completions[low:high])
                age_s = inf
                if now_ms != inf:
                    age_s = max(0.0, (now_ms - (start_ms[high - 1] + 1_000 * bucket_s)) / 1_000)
                since = done / length * age_s if done > 0 else 0.0
                row[3] = _kind(limit, of, done, since, shares, drains, fills, ended)
                row[4], row[5], row[6] = _sum(of) / (high - low), done, length
        low = high
        count += 1
    return rows[:count].copy()


@compiled
def falls(
    ln_n: Floats,
    ln_rate: Floats,
    variance: Floats,
    full: NDArray[np.bool_],
    scale: Floats,
    stands: float,
    steeper: float,
    deeper: float,
    sure: float,
) -> bool:
    """Whether `edge.split` finds an edge anywhere: between full pools on the same cores, in rows (m,)."""
    order = np.argsort(ln_n, kind="mergesort")
    for first in range(len(order)):
        of = scale[order[first]]
        if not full[order[first]]:
            continue
        best = -inf
        for at in order:
            if full[at] and scale[at] == of:
                best = max(best, ln_rate[at])
        last = -1
        for place in range(len(order)):
            at = order[place]
            if full[at] and scale[at] == of and ln_rate[at] >= best - stands:
                last = place
        if first > last:
            continue
        one = order[first]
        for place in range(last + 1, len(order)):
            at = order[place]
            if full[at] and scale[at] == of:
                less = ln_rate[at] - ln_rate[one] + sure * sqrt(variance[one] + variance[at])
                if less < steeper * (ln_n[at] - ln_n[one]) - deeper:
                    return True
    return False
