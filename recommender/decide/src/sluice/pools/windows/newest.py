"""Measures each pool over its newest complete window, in buckets as configured or as its data choose: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.section import Pool, PoolsSection
from sluice.pools.windows.delay import START_MS
from sluice.pools.windows.intervals import interval_for, measure_over
from sluice.pools.windows.rows import PoolWindow, WindowRows, complete_before, split


def measure_newest(
    rows: WindowRows,
    pools: Sequence[Pool],
    config: PoolsSection,
    now_ms: int,
    in_force_ms: Mapping[PoolKey, int] = MappingProxyType({}),
) -> list[PoolWindow | None]:
    """Measures every pool, in their order; `rows.pool` indexes `pools`. None where nothing completed.

    in_force_ms: the bucket length that the data of a pool chose before.
    Where the delay is measured, that of a new pool counts, since rows alone do not show when they came.
    """
    fixed_ms = fixed_settle_ms(config)
    settle_ms = START_MS if fixed_ms is None else fixed_ms
    pool_rows = zip(split(rows, len(pools)), pools, strict=True)
    return [
        newest(own, index, pool, config, complete_before(own, index, now_ms, settle_ms), in_force_ms.get(pool.key))
        for index, (own, pool) in enumerate(pool_rows)
    ]


def fixed_settle_ms(config: PoolsSection) -> int | None:
    """The configured delay; None where the delay of the data is measured."""
    return None if isinstance(config.settle, str) else int(config.settle)


def newest(
    own: WindowRows, index: int, pool: Pool, config: PoolsSection, before_ms: int | None, in_force_ms: int | None
) -> PoolWindow | None:
    """Measures one pool from its own rows, in which it is number `index`; rows before `before_ms` are complete."""
    if before_ms is None:
        return None
    from_ms, stored_ms, bucket = before_ms - int(config.window), config.stored_ms, config.bucket_of(pool)
    if bucket != "auto":
        return measure_over(own, index, from_ms, before_ms, stored_ms, int(bucket))
    interval = interval_for(own, index, from_ms, before_ms, stored_ms, in_force_ms)
    if interval is None:
        return None
    window = measure_over(own, index, from_ms, before_ms, stored_ms, interval.ms)
    return window and replace(window, reasons=(Reason("BUCKET_AUTO", interval.detail),))
