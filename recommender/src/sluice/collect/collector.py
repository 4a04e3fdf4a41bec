"""Reads the newest windows of all pools, and what stands above them: the only I/O on the way to an estimate."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from sluice.collect import query, upstream
from sluice.collect.intervals import interval_for, measure_over
from sluice.collect.query import Request
from sluice.collect.rows import Measured, Rows, whole_before
from sluice.config import Config, Pool, PoolKey
from sluice.estimate.model import Reason
from sluice.estimate.threshold import UpstreamTime

# Room in front of the window for spans that are late: peers that only traces tell come some 6 s after the spans.
LATE_MS = 10_000


class Database(Protocol):
    """What is needed of a ClickHouse client."""

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        """The result's columns; raises when the database cannot answer."""
        ...


@dataclass(frozen=True)
class Window:
    """The newest window: a measurement per pool, None where nothing completed."""

    pools: dict[PoolKey, Measured | None]


class Collector:
    """One query per call. Raises what the database raises: a period without an answer is the caller's to handle."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def upstream(self, config: Config, now_ms: int) -> dict[PoolKey, UpstreamTime]:
        """What the services above take, of the pools that ask for it and that enough traces lead to; {} asks nobody."""
        parameters = upstream.parameters(config, now_ms)
        if parameters is None:
            return {}
        columns = self._database.columns(upstream.SQL, parameters)
        return upstream.times(columns, config) if columns else {}

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window:
        requests = [Request(pool.key, thresholds_ns[pool.key]) for pool in config.pools]
        from_ms = now_ms - int(config.window + config.settle) - LATE_MS
        parameters = query.parameters(requests, from_ms, now_ms, config.stored_ms)
        columns = self._database.columns(query.SQL, parameters)
        if not columns or len(columns[0]) == 0:
            return Window({request.key: None for request in requests})
        rows = Rows(*(np.asarray(column, dtype=np.int64) for column in columns[: len(fields(Rows))]))
        # Rows come by pool: each looks at its own alone, or 10,000 pools would look at all of them 10,000 times.
        ends = np.searchsorted(rows.pool, np.arange(len(config.pools) + 1))
        return Window(
            {
                pool.key: _newest(rows.take(slice(ends[index], ends[index + 1])), index, pool, config, now_ms)
                for index, pool in enumerate(config.pools)
            }
        )


def _newest(rows: Rows, index: int, pool: Pool, config: Config, now_ms: int) -> Measured | None:
    """The pool over its newest whole window, in buckets as configured or as the data speak for."""
    before_ms = whole_before(rows, index, now_ms, int(config.settle))
    if before_ms is None:
        return None
    from_ms, stored_ms, bucket = before_ms - int(config.window), config.stored_ms, config.bucket_of(pool)
    if bucket != "auto":
        return measure_over(rows, index, from_ms, before_ms, stored_ms, int(bucket))
    interval = interval_for(rows, index, from_ms, before_ms, stored_ms)
    if interval is None:
        return None
    found = measure_over(rows, index, from_ms, before_ms, stored_ms, interval.ms)
    return found and replace(found, reasons=(Reason("BUCKET_AUTO", interval.detail),))
