"""Concurrency and completions of each pool and instance per bucket, as the job `concurrency` counts them.

Buckets are half-open, [k * length, (k + 1) * length). A span overlaps each bucket that it crosses and completes in the
bucket that contains its end. Of a span longer than 10 minutes only the newest 10 minutes are spread (`max-spread-ms`).
Worked example, buckets of 100 ms: the span [80, 230) ms overlaps the buckets 0, 1, 2 by 20, 100 and 30 ms and completes
in 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sluice.cli.traces.report.analysis.names import Bools, Ints
from sluice.fast.compiled import compiled

BUCKET_MS = 100
MAX_SPREAD_MS = 600_000
_MS = 1_000_000


@dataclass(frozen=True)
class Windows:
    """A row a bucket and series that a span of it overlaps or ends in; series ascending, buckets of one ascending.

    busy_ns: sum over spans of their overlap. completions: spans that end in the bucket; errors: those of them that
    failed; in_time: those within the threshold, failed or not.
    """

    series: Ints
    bucket: Ints
    busy_ns: Ints
    completions: Ints
    errors: Ints
    in_time: Ints

    def of(self, first: int, last: int) -> Windows:
        """The rows of the series from `first` to `last`."""
        rows = slice(*np.searchsorted(self.series, (first, last + 1)))
        columns = (self.series, self.bucket, self.busy_ns, self.completions, self.errors, self.in_time)
        return Windows(*(column[rows] for column in columns))


def windows_of(
    series: Ints,
    start_ns: Ints,
    end_ns: Ints,
    error: Bools,
    threshold_ms: float | None = None,
    bucket_ms: int = BUCKET_MS,
) -> Windows:
    """Columns of spans, each with end >= start >= 0. threshold_ms: None = every completion is in time."""
    spread_from = np.maximum(start_ns, end_ns - MAX_SPREAD_MS * _MS)
    order = np.lexsort((spread_from, series))
    most_ns = np.iinfo(np.int64).max if threshold_ms is None else longest_in_time_ns(threshold_ms)
    in_time = end_ns - start_ns <= most_ns
    return Windows(
        *_windows(
            series[order],
            spread_from[order],
            end_ns[order],
            error[order].astype(np.int64),
            in_time[order].astype(np.int64),
            bucket_ms * _MS,
        )
    )


def longest_in_time_ns(threshold_ms: float) -> int:
    """The longest duration that counts as within a threshold: histograms keep buckets (2^(i/64), 2^((i+1)/64)] ns, of
    which those that lie wholly within it count. 1 ms -> 993 us."""
    whole = math.floor(math.log2(max(round(threshold_ms * 1e6), 1)) * 64)
    return int(2 ** (whole / 64))


@compiled
def _windows(
    series: Ints, start_ns: Ints, end_ns: Ints, error: Ints, in_time: Ints, length_ns: int
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
    """Spans are sorted by series and start, so that buckets of one series come in order, in runs without a gap."""
    rows, last_series, last = 0, -1, -1
    first_row = np.empty(len(series), dtype=np.int64)
    for span in range(len(series)):
        low, high = start_ns[span] // length_ns, end_ns[span] // length_ns
        if series[span] != last_series or low > last:
            last_series, last = series[span], low - 1
        first_row[span] = rows - (last - low + 1)
        rows += max(0, high - last)
        last = max(last, high)
    out_series, bucket = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    busy, completions = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    errors, timely = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    for span in range(len(series)):
        start, end = start_ns[span], end_ns[span]
        low, high = start // length_ns, end // length_ns
        for at in range(low, high + 1):
            row = first_row[span] + at - low
            out_series[row], bucket[row] = series[span], at
            busy[row] += min(end, (at + 1) * length_ns) - max(start, at * length_ns)
        completions[row] += 1
        errors[row] += error[span]
        timely[row] += in_time[span]
    return out_series, bucket, busy, completions, errors, timely
