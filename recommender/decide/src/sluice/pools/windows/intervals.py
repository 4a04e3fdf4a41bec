"""Buckets longer than the stored ones, and the choice of their length: pure."""

from __future__ import annotations

import numpy as np

from sluice.pools.estimate.interval import Interval, choose
from sluice.pools.windows.rows import Ints, PoolWindow, WindowRows, measure


def coarsen(rows: WindowRows, length_ms: int, interval_ms: int) -> WindowRows:
    """Sums rows of `length_ms` into buckets of `interval_ms`, a multiple of it.

    Instances: the most in any of the buckets. Two buckets of 100 ms with 3 and 5 in flight: one of 200 ms with 4.
    """
    if interval_ms == length_ms:
        return rows
    starts, group = np.unique(rows.bucket_start_ms // interval_ms * interval_ms, return_inverse=True)

    def summed(column: Ints) -> Ints:
        out = np.zeros(len(starts), dtype=np.int64)
        np.add.at(out, group, column)
        return out

    instances = np.zeros(len(starts), dtype=np.int64)
    np.maximum.at(instances, group, rows.instances)
    return WindowRows(
        bucket_start_ms=starts.astype(np.int64),
        busy_ns=summed(rows.busy_ns),
        own_completions=summed(rows.own_completions),
        own_good=summed(rows.own_good),
        instances=instances,
        judge_completions=summed(rows.judge_completions),
        judge_good=summed(rows.judge_good),
        judge_busy_ns=summed(rows.judge_busy_ns),
    )


def interval_for(
    rows: WindowRows, from_ms: int, before_ms: int, stored_ms: int, in_force_ms: int | None = None
) -> Interval | None:
    """The interval for the data of the pool, from buckets as `measure` takes them; None when nothing was in flight."""
    inside = (rows.bucket_start_ms >= from_ms) & (rows.bucket_start_ms < before_ms)
    own = rows.take(inside & (rows.busy_ns > 0))
    if len(own) == 0:
        return None
    done = own.judge_completions if own.judge_completions.sum() > 0 else own.own_completions
    in_flight = own.busy_ns / (stored_ms * 1e6)
    return choose(own.bucket_start_ms, in_flight, done.astype(np.float64), stored_ms, in_force_ms)


def measure_over(rows: WindowRows, from_ms: int, before_ms: int, stored_ms: int, interval_ms: int) -> PoolWindow | None:
    """As `measure`, in buckets of `interval_ms`; buckets partly outside the range are left out."""
    if interval_ms == stored_ms:
        return measure(rows, from_ms, before_ms, stored_ms)
    begin_ms = -(-from_ms // interval_ms) * interval_ms
    end_ms = -(-before_ms // stored_ms) * stored_ms // interval_ms * interval_ms
    return measure(coarsen(rows, stored_ms, interval_ms), begin_ms, end_ms, interval_ms)
