"""Finished spans of one kind, as columns in the order of their ends: cheap to append to, fast to count in."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .spans import Span
from .windows import latency_index, threshold_index

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Counts:
    """Per bucket, each of shape (n,): what ``windows.windows`` gives, summed over the instances."""

    busy_ns: Ints
    """Sum over spans of overlap(span, bucket)."""
    instances: Ints
    """Instances with something in flight in the bucket."""
    completions: Ints
    errors: Ints
    good: Ints
    """Completions within the threshold by ``Window.within``: whole histogram buckets only, errors included."""


class SpanColumns:
    """About 0.3 us and 25 bytes a span. Any bucket length and threshold can be asked for afterwards."""

    def __init__(self) -> None:
        self._start = array("q")
        self._end = array("q")
        self._failed = array("b")
        self._instance = array("h")
        self._number: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._end)

    def add(self, span: Span) -> None:
        """Spans come in the order of their ends."""
        self._start.append(span.start_ns)
        self._end.append(span.end_ns)
        self._failed.append(span.failed)
        number = self._number.get(span.instance)
        if number is None:
            number = self._number[span.instance] = len(self._number)
        self._instance.append(number)

    def durations_ns(self, since_ns: int, until_ns: int) -> Ints:
        """Of the spans that ended in [since, until), shape (k,), in the order of their ends."""
        end = np.frombuffer(self._end, dtype=np.int64) if self._end else np.zeros(0, dtype=np.int64)
        low, high = np.searchsorted(end, (since_ns, until_ns))
        return end[low:high] - np.frombuffer(self._start, dtype=np.int64)[low:high] if high > low else end[:0].copy()

    def counts(self, since_ns: int, buckets: int, length_ns: int, threshold_ns: int) -> Counts:
        """Buckets [since + i * length, since + (i + 1) * length) for i in 0..buckets - 1.

        Spans that have not ended are not in it, as in a pipeline that gets a span when it ends.
        """
        if not len(self):
            return Counts(*(np.zeros(buckets, dtype=np.int64) for _ in range(5)))
        end = np.frombuffer(self._end, dtype=np.int64)
        first = int(np.searchsorted(end, since_ns))
        end = end[first:]
        start = np.frombuffer(self._start, dtype=np.int64)[first:]
        failed = np.frombuffer(self._failed, dtype=np.int8)[first:]
        instance = np.frombuffer(self._instance, dtype=np.int16)[first:]
        until_ns = since_ns + buckets * length_ns
        overlaps = start < until_ns
        busy = np.zeros(buckets, dtype=np.int64)
        present = np.zeros(buckets, dtype=np.int64)
        for number in np.unique(instance[overlaps]):
            mine = overlaps & (instance == number)
            own = _busy(start[mine] - since_ns, end[mine] - since_ns, buckets, length_ns)
            busy += own
            present += own > 0
        done = end < until_ns
        bucket = (end[done] - since_ns) // length_ns
        good = (end[done] - start[done]) <= longest_good(threshold_ns)

        def count(which: NDArray[np.bool_] | slice) -> Ints:
            return np.bincount(bucket[which], minlength=buckets).astype(np.int64)

        return Counts(busy, present, count(slice(None)), count(failed[done] != 0), count(good))


def _busy(start: Ints, end: Ints, buckets: int, length: int) -> Ints:
    """Overlap of spans with each bucket, relative to the first one, in O(spans + buckets).

    A span adds a whole length to every bucket from its first to before its last, through the differences of that
    step; then what it misses of the first bucket is taken away and what it has of the last one is added.
    Worked, length 100: 50..230 adds 100, 100, 0, less 50 in the first, plus 30 in the last: 50, 100, 30.
    """
    start = np.maximum(start, 0)
    end = np.minimum(end, buckets * length)
    first, last = start // length, end // length
    steps = np.bincount(first, minlength=buckets + 1) - np.bincount(last, minlength=buckets + 1)
    exact = np.cumsum(steps)[: buckets + 1] * length
    np.subtract.at(exact, first, start - first * length)
    np.add.at(exact, last, end - last * length)
    return exact[:buckets].astype(np.int64)


def longest_good(threshold_ns: int) -> int:
    """The longest duration (ns) that ``Window.within`` surely counts: the upper end of the last whole histogram bucket.

    Worked: 120 ms is index 1716 (``threshold_index``), whose bucket ends at 2^(1717/64) = 119.14 ms.
    """
    last = threshold_index(threshold_ns)
    longest = int(2.0 ** ((last + 1) / 64))
    while latency_index(longest + 1) <= last:
        longest += 1
    while latency_index(longest) > last:
        longest -= 1
    return longest
