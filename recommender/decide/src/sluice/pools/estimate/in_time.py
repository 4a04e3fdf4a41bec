"""Decides whether buckets differ by the concurrency in them, or by the time at which they were. Pure.

A window with light requests and then heavy ones looks like a service that thrashes: few in flight and many completions,
beside many in flight and few completions. Under load that comes and goes both kinds of bucket alternate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.samples import Floats

# The two sides of a change differ by 10 %, and by three standard errors; at least so many values come before it.
DIFFERENT, STANDARD_ERRORS, LEAST_BEFORE = 0.10, 3.0, 3

Mask = NDArray[np.bool_]


def in_turns(at_ms: NDArray[np.int64], first: Mask, second: Mask, holds: Callable[[Mask, Mask], bool]) -> bool:
    """Whether what `holds` between two kinds of bucket also holds within a part of the time.

    The time is cut where it divides the two kinds best. If one kind only replaced the other, neither part has enough of
    both, or they differ in neither part. at_ms, first, second: shape (n,). Worked: kind one at 0, 1, 2 and kind two at
    3, 4, 5 are cut at 3; at 0, 1, 4, 5 and at 2, 3, 6, 7 they are cut at 2, and compared within 2 to 7.
    """
    first_half = at_ms < _cut(at_ms[first], at_ms[second])
    return any(holds(first & part, second & part) for part in (first_half, ~first_half))


def _cut(first_ms: NDArray[np.int64], second_ms: NDArray[np.int64]) -> int:
    """The time at which the distributions of both times are furthest apart (Kolmogorov and Smirnov)."""
    times = np.unique(np.concatenate((first_ms, second_ms)))
    one, other = (
        np.searchsorted(np.sort(start_ms), times, side="left") / len(start_ms) for start_ms in (first_ms, second_ms)
    )
    return int(times[np.argmax(np.abs(one - other))])


def newest_alike(values: Floats, at_ms: NDArray[np.int64], at_least: int) -> Floats:
    """The newest of the values that belong together: values before a change of the mean are dropped.

    values, at_ms: shape (n,); the result has at least `at_least` values where n is as many. Worked: 40 x 100 and then
    40 x 50 -> the 40 x 50; the same from 3 x 100 and then 40 x 50.
    """
    kept = values[np.argsort(at_ms, kind="stable")]
    while len(kept) >= at_least + LEAST_BEFORE:
        cut = _change(kept, at_least)
        older, newer = kept[:cut], kept[cut:]
        change = abs(float(newer.mean() - older.mean()))
        noise = np.hypot(_standard_error(older), _standard_error(newer))
        if change < DIFFERENT * older.mean() or change < STANDARD_ERRORS * noise:
            break
        kept = newer
    return kept


def _change(values: Floats, at_least: int) -> int:
    """The index where the means before and after differ most for their numbers; at least `at_least` values are after
    it."""
    n = len(values)
    k = np.arange(LEAST_BEFORE, n - at_least + 1)
    difference = np.cumsum(values)[k - 1] / k - values.mean()
    return int(k[np.argmax(np.abs(difference) * np.sqrt(k / (n - k)))])


def _standard_error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
