"""Measures a pool over its newest complete window, in buckets as configured or as its data choose: pure."""

from __future__ import annotations

from dataclasses import replace

from sluice.model.reason import Reason
from sluice.pools.section import Pool, PoolsSection
from sluice.pools.windows.intervals import interval_for, measure_over
from sluice.pools.windows.rows import PoolWindow, WindowRows


def fixed_settle_ms(config: PoolsSection) -> int | None:
    """The configured delay; None where the delay of the data is measured."""
    return None if isinstance(config.settle, str) else int(config.settle)


def newest(
    rows: WindowRows, pool: Pool, config: PoolsSection, before_ms: int | None, in_force_ms: int | None
) -> PoolWindow | None:
    """Measures one pool from its rows, which are complete before `before_ms`. in_force_ms: the bucket length that its
    data chose before."""
    if before_ms is None:
        return None
    from_ms, stored_ms, bucket = before_ms - int(config.window), config.stored_ms, config.bucket_of(pool)
    if bucket != "auto":
        return measure_over(rows, from_ms, before_ms, stored_ms, int(bucket))
    interval = interval_for(rows, from_ms, before_ms, stored_ms, in_force_ms)
    if interval is None:
        return None
    window = measure_over(rows, from_ms, before_ms, stored_ms, interval.ms)
    return window and replace(window, reasons=(Reason("BUCKET_AUTO", interval.detail),))
