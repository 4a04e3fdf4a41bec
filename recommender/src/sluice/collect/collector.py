"""Reads the newest windows of all pools: the only I/O on the way to an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sluice.collect import query
from sluice.collect.query import Request, Table
from sluice.collect.rows import EMPTY, Ints, Measured, Rows, measure_all, newest_whole
from sluice.config import Config, PoolKey


class Database(Protocol):
    """What is needed of a ClickHouse client."""

    def columns(self, sql: str, parameters: dict[str, object], table: Table) -> list[Ints]:
        """The result's columns, all whole numbers; raises when the database cannot answer."""
        ...


@dataclass(frozen=True)
class Window:
    """The newest window: a measurement per pool, None where nothing completed."""

    pools: dict[PoolKey, Measured | None]


class Collector:
    """One query per call, whatever the number of pools, up to what a result may hold; then as few as it takes.

    Raises what the database raises: a period without an answer is the caller's to handle.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window:
        requests = [Request(pool.key, thresholds_ns[pool.key]) for pool in config.pools]
        # Room for the settle time, and for a pipeline that lags, in front of the window itself.
        from_ms = now_ms - int(config.window + 2 * config.settle)
        bucket_ms = int(config.bucket)
        parameters = query.parameters(from_ms, now_ms, bucket_ms)
        share = query.pools_per_query(from_ms, now_ms, bucket_ms)
        parts = [
            (part, self._rows(parameters, part))
            for part in (requests[i : i + share] for i in range(0, len(requests), share))
        ]
        newest = [rows.bucket_start_ms.max() for _, rows in parts if len(rows)]
        if not newest:
            return Window(dict.fromkeys(thresholds_ns))
        before_ms = newest_whole(np.asarray(newest), now_ms, int(config.settle))
        start_ms = before_ms - int(config.window)
        pools: dict[PoolKey, Measured | None] = {}
        for part, rows in parts:
            found = measure_all(rows, len(part), start_ms, before_ms, bucket_ms)
            pools |= dict(zip((request.key for request in part), found, strict=True))
        return Window(pools)

    def _rows(self, parameters: dict[str, object], requests: list[Request]) -> Rows:
        columns = self._database.columns(query.SQL, parameters, query.keys(requests))
        return Rows(*columns) if columns else EMPTY
