"""Reads the newest windows of all pools, and what stands above them: the only I/O on the way to an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sluice.collect import query, upstream
from sluice.collect.newest import measure_newest
from sluice.collect.query import Request, Table
from sluice.collect.rows import EMPTY, Ints, Measured, Rows
from sluice.config import Config, Pool, PoolKey
from sluice.estimate.threshold import Asked, UpstreamTime

# Room in front of the window for spans that are late: peers that only traces tell come some 6 s after the spans.
LATE_MS = 10_000


class Database(Protocol):
    """What is needed of a ClickHouse client. Both give the result's columns, and raise when it cannot answer."""

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        """Of any types."""
        ...

    def numbers(self, sql: str, parameters: dict[str, object], table: Table) -> list[Ints]:
        """All whole numbers, of a query that reads `table`; none for an empty result."""
        ...


@dataclass(frozen=True)
class Window:
    """The newest window: a measurement per pool, None where nothing completed."""

    pools: dict[PoolKey, Measured | None]


class Collector:
    """One query per call, whatever the number of pools, up to what a result may hold; then as few as it takes.
    Remembers how long the buckets of each pool are, where the data choose it.

    Raises what the database raises: a period without an answer is the caller's to handle.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._intervals_ms: dict[PoolKey, int] = {}

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        """What the services above take, where a pool asks for it and enough traces lead to it; {} asks nobody."""
        parameters = upstream.parameters(config, now_ms)
        if parameters is None:
            return {}
        columns = self._database.columns(upstream.SQL, parameters)
        return upstream.times(columns, config) if columns else {}

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window:
        from_ms = now_ms - int(config.window + config.settle) - LATE_MS
        parameters = query.parameters(from_ms, now_ms, config.stored_ms)
        share = query.pools_per_query(from_ms, now_ms, config.stored_ms)
        found: dict[PoolKey, Measured | None] = {}
        for begin in range(0, len(config.pools), share):
            pools = config.pools[begin : begin + share]
            rows = self._rows(parameters, pools, thresholds_ns)
            newest = measure_newest(rows, pools, config, now_ms, self._intervals_ms)
            found |= dict(zip((pool.key for pool in pools), newest, strict=True))
        self._keep_intervals(config, found)
        return Window(found)

    def _keep_intervals(self, config: Config, found: dict[PoolKey, Measured | None]) -> None:
        """What the data chose, for the next period; over periods in which a pool has none, and not over a restart."""
        chosen = {key: measured.bucket_ms for key, measured in found.items() if measured is not None}
        auto = {pool.key for pool in config.pools if config.bucket_of(pool) == "auto"}
        self._intervals_ms = {key: ms for key, ms in (self._intervals_ms | chosen).items() if key in auto}

    def _rows(self, parameters: dict[str, object], pools: Sequence[Pool], thresholds_ns: dict[PoolKey, int]) -> Rows:
        requests = [Request(pool.key, thresholds_ns[pool.key]) for pool in pools]
        columns = self._database.numbers(query.SQL, parameters, query.keys(requests))
        return Rows(*columns) if columns else EMPTY
