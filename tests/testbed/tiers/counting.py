"""Windows of finished requests: what ``columns.SpanColumns`` and ``fine`` count, in one pass over the rows of a run."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..columns import Counts, Ints, longest_good
from ..compiled.jit import compiled
from .run import BEGUN, ENDED, Floats

NS = 1e9
NONE = -1


@compiled
def first_ended(rows: Floats, since_ns: int) -> int:
    """The first row that ended at ``since_ns`` or later; rows stand in the order of their ends."""
    low, high = 0, rows.shape[0]
    while low < high:
        middle = (low + high) // 2
        if int(np.rint(rows[middle, ENDED] * NS)) < since_ns:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _tally(
    rows: Floats,
    start: int,
    column: int,
    instance: float,
    since: int,
    length: int,
    longest: int,
    busy: Ints,
    counts: Ints,
) -> None:
    """Adds to busy, shape (n,), and counts, shape (3, n): completions, errors, good."""
    buckets = busy.shape[0]
    until = since + buckets * length
    whole = np.zeros(buckets + 1, dtype=np.int64)
    for row in range(first_ended(rows, since), rows.shape[0]):
        if rows[row, start] < 0 or (column != NONE and rows[row, column] != instance):
            continue
        begin = int(np.rint(rows[row, start] * NS))
        end = int(np.rint(rows[row, ENDED] * NS))
        if end < until:
            bucket = (end - since) // length
            counts[0, bucket] += 1
            counts[1, bucket] += rows[row, BEGUN] < 0
            counts[2, bucket] += end - begin <= longest
        if begin >= until:
            continue
        low, high = max(begin - since, 0), min(end - since, until - since)
        first, last = low // length, high // length
        whole[first] += length
        whole[last] -= length
        busy[first] -= low - first * length
        if last < buckets:
            busy[last] += high - last * length
    running = 0
    for bucket in range(buckets):
        running += whole[bucket]
        busy[bucket] += running


@dataclass(frozen=True, slots=True)
class Buckets:
    """n whole buckets, and the threshold that a completion in them is good within."""

    since_ns: int
    n: int
    length_ns: int
    threshold_ns: int

    @property
    def until_ns(self) -> int:
        return self.since_ns + self.n * self.length_ns


def between(since_s: float, until_s: float, bucket_ms: int, threshold_ms: float) -> Buckets:
    """Those that lie whole between two seconds, from 0 on.

    Raises:
        ValueError: a bucket is not 10 to 1,000 ms, or the threshold is not > 0.
    """
    if not 10 <= bucket_ms <= 1000:
        raise ValueError(f"bucket_ms must be an integer from 10 to 1000, got {bucket_ms}")
    if not 0 < threshold_ms < float("inf"):
        raise ValueError(f"threshold_ms must be > 0 and finite, got {threshold_ms}")
    length = bucket_ms * 1_000_000
    since, until = (int(round(max(0.0, second) * 1e9) // length) for second in (since_s, until_s))
    return Buckets(since * length, max(0, until - since), length, round(threshold_ms * 1e6))


def counts(rows: Floats, start: int, of: Buckets, column: int = NONE, instances: int = 1) -> Counts:
    """Of spans from column ``start`` to their end; a request without such a beginning has none.

    ``rows``: shape (finished, columns). ``column`` says whose span it is, of ``instances``; without it all are of one.
    """
    busy, present, tallies = (np.zeros(shape, dtype=np.int64) for shape in (of.n, of.n, (3, of.n)))
    longest = longest_good(of.threshold_ns)
    for instance in range(instances if of.n else 0):
        own = np.zeros(of.n, dtype=np.int64)
        _tally(rows, start, column, float(instance), of.since_ns, of.length_ns, longest, own, tallies)
        busy += own
        present += own > 0
    return Counts(busy, present, tallies[0], tallies[1], tallies[2])


def durations(rows: Floats, start: int, of: Buckets) -> Ints:
    """ns, of those that ended in the buckets, in the order of their ends."""
    ended = rows[first_ended(rows, of.since_ns) : first_ended(rows, of.until_ns)]
    whole: NDArray[np.int64] = np.rint(ended[ended[:, start] >= 0] * NS).astype(np.int64)
    return whole[:, ENDED] - whole[:, start]


def sizes(history: Sequence[tuple[float, int]], of: Buckets) -> Ints:
    """The size where each bucket starts, by the changes, (second, size from then on)."""
    before = bisect_right(history, of.since_ns / 1e9, key=lambda change: change[0]) - 1
    times, values = zip(*history[before:], strict=True)
    starts = (of.since_ns + np.arange(of.n) * of.length_ns) / 1e9
    return np.array(values, dtype=np.int64)[np.searchsorted(times, starts, side="right") - 1]
