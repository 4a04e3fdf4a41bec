"""Two copies of a table, to which rows come in another order: whichever is asked, what is known is what both have."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from sluice.clickhouse.connection import ClickHouse
from sluice.clickhouse.native import Arrays, Column
from sluice.clickhouse.table import Table
from sluice.model.keys import PoolKey
from sluice.pools.windows.query import ENGINE_SQL
from sluice.pools.windows.reading import WindowReader
from sluice_kit.servers.clickhouse import PASSWORD, WRITER

pytestmark = pytest.mark.integration

BUCKET_MS, START_MS = 100, 1_800_000_000_000
POOLS = [PoolKey("cart", "server", ""), PoolKey("orders", "server", "")]
COLUMNS = [
    *("side", "service", "peer", "instance", "bucket", "bucket_ms"),
    *("busy_ns", "completions", "errors", "latency", "version"),
]


class Copies:
    """Asks one copy, and by chance another after each query. Both say that they are copies."""

    def __init__(self, url: str, names: list[str], rng: np.random.Generator) -> None:
        self._copies = [ClickHouse(url, WRITER, PASSWORD, database=name) for name in names]
        self._rng = rng

    def arrays(self, sql: str, parameters: dict[str, object], table: Table) -> list[Column | Arrays]:
        return self._one().arrays(sql, parameters, table)

    def columns(self, sql: str, parameters: dict[str, object]) -> list[list[Any]]:
        return [["ReplicatedReplacingMergeTree"]] if sql == ENGINE_SQL else self._one().columns(sql, parameters)

    def _one(self) -> ClickHouse:
        return self._copies[int(self._rng.integers(len(self._copies)))]


def row(rng: np.random.Generator, bucket: int, version: int) -> list[Any]:
    """Later versions have more, as sums that grow."""
    service, instance = rng.choice([pool.service for pool in POOLS]), f"i{rng.integers(2)}"
    at = datetime.fromtimestamp((START_MS + bucket * BUCKET_MS) / 1000, UTC)
    return ["server", service, "", instance, at, BUCKET_MS, version * 10**7, version, 0, {}, version]


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_come_to_copies_in_another_order_count_once(database: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    client = database.client("sluice")
    client.command("DROP DATABASE IF EXISTS copy SYNC")
    client.command("CREATE DATABASE copy")
    client.command("CREATE TABLE copy.windows AS sluice.windows")
    names = ["sluice", "copy"]
    reading = WindowReader(Copies(database.url, names, rng))
    waiting: dict[str, list[list[Any]]] = {name: [] for name in names}
    newest: dict[tuple[Any, ...], list[Any]] = {}
    arrived, first = np.zeros(len(POOLS), dtype=np.int64), None
    for _ in range(25):
        for _ in range(rng.integers(1, 30)):
            one = row(rng, int(rng.integers(0, 60)), int(rng.integers(1, 6)))
            key = (one[1], one[3], one[4])
            newest[key] = max(newest.get(key, one), one, key=lambda each: each[-1])
            for rows in waiting.values():
                rows.append(one)
        for name, rows in waiting.items():
            rng.shuffle(rows)  # type: ignore[arg-type]
            now = [rows.pop() for _ in range(int(rng.integers(0, len(rows) + 1)))]
            if now:
                client.insert("windows", now, column_names=COLUMNS, database=name)
        found = read(reading)
        if first is None:
            first = held(reading)  # what is there at the start is no arrival
        else:
            np.add.at(arrived, found.pool, found.busy_ns)
        assert (held(reading) == first + arrived).all(), "what came has come once"
    for name, rows in waiting.items():
        if rows:
            client.insert("windows", rows, column_names=COLUMNS, database=name)
    found = read(reading)
    np.add.at(arrived, found.pool, found.busy_ns)
    whole = [sum(each[6] for each in newest.values() if each[1] == pool.service) for pool in POOLS]
    assert held(reading).tolist() == whole == (first + arrived).tolist()
    client.command("DROP DATABASE copy SYNC")


def read(reading: WindowReader) -> Any:
    return reading.read(POOLS, [None] * len(POOLS), START_MS, START_MS + 60 * BUCKET_MS, BUCKET_MS)


def held(reading: WindowReader) -> Any:
    """Busy time of each pool, in ns."""
    return np.array([int(reading.own(pool)[1].sum()) for pool in range(len(POOLS))])
