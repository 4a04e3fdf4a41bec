"""What the collector remembers between periods, on rows that stand in for the database's."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.windows import Collector, PoolWindow
from sluice.pools.windows.query import ENGINE_SQL, NUMBERED

CART = PoolKey("cart", "server", "")
NOW_MS = 1_000_000


@dataclass
class FakeDatabase:
    """Cart completes `in_100_ms` in each of 700 buckets of 100 ms, and moves between 1 and 19 in flight."""

    in_100_ms: int = 10
    version: int = 0

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        if sql == ENGINE_SQL:
            return [[NUMBERED]]
        return [[self.version + 1], [1]] if self.in_100_ms else [[0], [0]]

    def arrays(self, sql: str, parameters: dict[str, object], table: Table) -> list[Column | Arrays]:
        """Every period has new versions of all rows: of one instance, without callers."""
        if self.in_100_ms == 0 or parameters.get("callees"):
            return []
        self.version += 1
        at = np.arange(700)
        in_flight = 10 + 9 * np.sin(2 * np.pi * at / 200)
        first = NOW_MS // 100 - 700 - parameters["first"]  # type: ignore[operator]
        done = np.full(700, self.in_100_ms)
        rows = (first + at, in_flight * 1e8, done, 0 * done, done, np.full(700, self.version))
        source = [np.array([value]) for value in (0, 0, 5, self.version)]
        return [*source, *(Arrays(np.array([700]), column.astype(np.int64)) for column in rows)]


def config(bucket: str = "auto") -> Config:
    pool = {"service": "cart", "side": "server", "threshold": "60ms"}
    return Config.model_validate({"bucket": bucket, "stored_bucket": "100ms", "pools": [pool]})


def collect(collector: Collector, given: Config) -> PoolWindow | None:
    return collector.collect(given, {CART: 60_000_000}, NOW_MS).pools[CART]


def chosen_ms(collector: Collector, given: Config | None = None) -> int:
    found = collect(collector, given or config())
    assert found is not None
    return found.bucket_ms


def test_the_chosen_interval_is_kept_from_period_to_period() -> None:
    """100 completions a second are 10 in 100 ms; 80 are 8, for which 200 ms would be chosen anew; 70 are too few."""
    database = FakeDatabase()
    collector = Collector(database)
    assert chosen_ms(collector) == 100
    database.in_100_ms = 8
    assert chosen_ms(collector) == 100
    assert chosen_ms(Collector(database)) == 200
    database.in_100_ms = 0
    assert collect(collector, config()) is None
    database.in_100_ms = 8
    assert chosen_ms(collector) == 100
    database.in_100_ms = 7
    assert chosen_ms(collector) == 200


def test_an_interval_that_the_configuration_sets_is_no_choice_to_be_kept() -> None:
    database = FakeDatabase()
    collector = Collector(database)
    assert chosen_ms(collector) == 100
    assert chosen_ms(collector, config("500ms")) == 500
    database.in_100_ms = 8
    assert chosen_ms(collector) == 200


def test_a_window_is_over_with_the_next_reading() -> None:
    database = FakeDatabase()
    collector = Collector(database)
    first = collector.collect(config(), {CART: 60_000_000}, NOW_MS)
    assert first.pools[CART] is not None
    collector.collect(config(), {CART: 60_000_000}, NOW_MS)
    assert first.pools[CART] is not None  # made in time
    with pytest.raises(RuntimeError, match="over"):
        first.complete[CART]
