"""The fine windows of every soft resource, computed exactly from spans: the reference for the streaming job."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, floor, log2
from typing import NamedTuple

from .spans import Span

BUCKETS_PER_OCTAVE = 64


class WindowKey(NamedTuple):
    service: str
    instance: str
    side: str
    peer: str
    bucket_ns: int
    """Start of the bucket, a multiple of its length."""


@dataclass(slots=True)
class Window:
    busy_ns: int = 0
    """Sum over spans of overlap(span, bucket): divided by the bucket's length, the mean number in flight."""
    completions: int = 0
    """Spans that end in [start, start + length)."""
    errors: int = 0
    latency: Counter[int] = field(default_factory=Counter)
    """Completions by ``latency_index`` of their duration."""

    def within(self, threshold_ns: int) -> int:
        """Completions that surely took no longer than the threshold: whole histogram buckets only, errors included."""
        last = threshold_index(threshold_ns)
        return sum(count for index, count in self.latency.items() if index <= last)


def latency_index(duration_ns: int) -> int:
    """Index i with 2^(i/64) < ns <= 2^((i+1)/64), as the OpenTelemetry exponential histogram of scale 6.

    Worked: 0 and 1 ns give -1; 2 ns gives 63; 1 ms gives 1275; 100 ms gives 1700.
    """
    return ceil(log2(max(duration_ns, 1)) * BUCKETS_PER_OCTAVE) - 1


def threshold_index(threshold_ns: int) -> int:
    """The last index that lies wholly within the threshold: 2^((i+1)/64) <= ns. Worked: 120 ms gives 1716."""
    return floor(log2(threshold_ns) * BUCKETS_PER_OCTAVE) - 1


def windows(spans: Iterable[Span], length_ns: int = 100_000_000) -> dict[WindowKey, Window]:
    """Windows of ``length_ns`` per (service, instance, side, peer, bucket), from spans in any order.

    A bucket in which nothing is in flight and nothing ends has no entry.
    """
    table: dict[WindowKey, Window] = {}
    for span in spans:
        site = span.site
        start, end = span.start_ns, span.end_ns
        last = end - end % length_ns
        for bucket in range(start - start % length_ns, last + 1, length_ns):
            key = WindowKey(site.service, span.instance, site.side, site.peer, bucket)
            window = table.get(key)
            if window is None:
                window = table[key] = Window()
            window.busy_ns += min(end, bucket + length_ns) - max(start, bucket)
            if bucket == last:
                window.completions += 1
                window.errors += span.failed
                window.latency[latency_index(end - start)] += 1
    return table
