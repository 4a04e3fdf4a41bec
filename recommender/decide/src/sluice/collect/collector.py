"""Reads the newest windows of all pools, and what stands above them: the only I/O on the way to an estimate."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.collect import upstream
from sluice.collect.newest import newest
from sluice.collect.reading import Database, Reading
from sluice.collect.rows import Measured
from sluice.config import Config
from sluice.core.keys import PoolKey
from sluice.pools.estimate.threshold import Asked, UpstreamTime

# Room in front of the window for spans that are late: peers that only traces tell come some 6 s after the spans.
LATE_MS = 10_000


@dataclass(frozen=True)
class Window:
    """The newest window: a measurement per pool, None where nothing completed."""

    pools: dict[PoolKey, Measured | None]


class Collector:
    """One query per call for what is new, whatever the number of pools; more only for pools that are read whole.
    Remembers the rows of the window, and how long the buckets of each pool are, where the data choose it.

    Raises what the database raises: a period without an answer is the caller's to handle.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading = Reading(database)
        self._intervals_ms: dict[PoolKey, int] = {}

    @property
    def kept_bytes(self) -> int:
        """What is remembered of the rows."""
        return self._reading.cells.nbytes

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        """What the services above take, where a pool asks for it and enough traces lead to it; {} asks nobody."""
        parameters = upstream.parameters(config, now_ms)
        if parameters is None:
            return {}
        columns = self._database.columns(upstream.SQL, parameters)
        return upstream.times(columns, config) if columns else {}

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int) -> Window:
        from_ms = now_ms - int(config.window + config.settle) - LATE_MS
        keys = [pool.key for pool in config.pools]
        each = self._reading.read(keys, [thresholds_ns[key] for key in keys], from_ms, now_ms, config.stored_ms)
        found = {
            pool.key: newest(own, index, pool, config, now_ms, self._intervals_ms.get(pool.key))
            for index, (own, pool) in enumerate(zip(each, config.pools, strict=True))
        }
        self._keep_intervals(config, found)
        return Window(found)

    def _keep_intervals(self, config: Config, found: dict[PoolKey, Measured | None]) -> None:
        """What the data chose, for the next period; over periods in which a pool has none, and not over a restart."""
        chosen = {key: measured.bucket_ms for key, measured in found.items() if measured is not None}
        auto = {pool.key for pool in config.pools if config.bucket_of(pool) == "auto"}
        self._intervals_ms = {key: ms for key, ms in (self._intervals_ms | chosen).items() if key in auto}
