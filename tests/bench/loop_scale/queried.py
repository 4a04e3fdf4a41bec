"""The collector, on a real ClickHouse, with what its queries took."""

import time
from collections.abc import Callable
from dataclasses import replace

from bench.loop_scale.windows import NOW_MS, Timed
from sluice.clickhouse.connection import READER, ClickHouse
from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.windows import Collector, Window


class Queried(Collector):
    """Its clock stands at `now_ms`, up to which windows are written. database_cpu_s: what the database has spent so
    far."""

    def __init__(self, url: str, database_cpu_s: Callable[[], float] = lambda: 0.0) -> None:
        self.database, self.database_cpu_s = Counted(url, READER), database_cpu_s
        super().__init__(self.database)
        self.now_ms = NOW_MS
        self.spent_s = self.queried_s = 0.0

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window:
        self.database.queries, self.database.returned, self.database.spent_s = 0, 0, 0.0
        begun = time.perf_counter()
        window = super().collect(config, thresholds_ns, self.now_ms, live)
        self.spent_s = self.queried_s = time.perf_counter() - begun
        return replace(window, complete=Timed(self, window.complete))


class Counted(ClickHouse):
    queries, returned, spent_s = 0, 0, 0.0

    def arrays(self, sql: str, parameters: dict[str, object], table: Table) -> list[Column | Arrays]:
        begun = time.perf_counter()
        columns = super().arrays(sql, parameters, table)
        self.spent_s += time.perf_counter() - begun
        self.queries += 1
        self.returned += next((len(column.values) for column in columns if isinstance(column, Arrays)), 0)
        return columns
