"""Reads the newest windows of all pools: the only I/O on the way to an estimate."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np

from sluice.collect import query
from sluice.collect.query import Request
from sluice.collect.rows import Measured, Rows, measure, newest_whole
from sluice.config import Config, PoolKey


class Database(Protocol):
    """What is needed of a ClickHouse client."""

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[int]]:
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

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window:
        requests = [Request(pool.key, thresholds_ns[pool.key]) for pool in config.pools]
        # Room for the settle time, and for a pipeline that lags, in front of the window itself.
        from_ms = now_ms - int(config.window + 2 * config.settle)
        parameters = query.parameters(requests, from_ms, now_ms, int(config.bucket))
        columns = self._database.columns(query.SQL, parameters)
        if not columns or len(columns[0]) == 0:
            return Window({request.key: None for request in requests})
        rows = Rows(*(np.asarray(column, dtype=np.int64) for column in columns[: len(fields(Rows))]))
        before_ms = newest_whole(rows.bucket_start_ms, now_ms, int(config.settle))
        start_ms = before_ms - int(config.window)
        return Window(
            {
                request.key: measure(rows, index, start_ms, before_ms, int(config.bucket))
                for index, request in enumerate(requests)
            }
        )
