"""Decides whether buckets differ by the concurrency in them, or by the time at which they were. Pure.

A window with light requests and then heavy ones looks like a service that thrashes: few in flight and many completions,
beside many in flight and few completions. Under load that comes and goes both kinds of bucket alternate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

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
