"""Candidates and their courses, by the real engine."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.model.keys import PoolKey
from sluice.pools.discovery.query import LASTS_S, SETTLES_S, courses, loads
from sluice_kit.servers.rows import now

pytestmark = pytest.mark.integration

COLUMNS = ["side", "service", "peer", "instance", "start", "bucket_ms", "busy_ns", "busy_buckets", "min_busy_ns"]
COLUMNS += ["max_busy_ns", "completions", "errors", "latency", "version", "seen"]
SECOND = 10**9
CART, DB = PoolKey("cart", "server", ""), PoolKey("cart", "client", "db")


class Rows:
    """Rows of a rollup, at ages of whole seconds."""

    def __init__(self, database: Any, length_s: int) -> None:
        self._client, self._table, self._rows = database.client("sluice"), f"windows_{length_s}s", list[list[object]]()
        self.now_s = round(now(self._client).timestamp()) // 10 * 10

    def add(self, key: PoolKey, age_s: int, busy_s: float, top: float, done: int, **fields: Any) -> None:
        start = datetime.fromtimestamp(self.now_s - age_s, UTC)
        instance, version = fields.get("instance", "a"), fields.get("version", 1)
        latency = {1280: done} if done else {}
        windows = [100, round(busy_s * SECOND), 1, 1, round(top * SECOND / 10), done, 0, latency, version, start]
        self._rows.append([key.side, key.service, key.peer, instance, start, *windows])

    def insert(self) -> None:
        self._client.insert(self._table, self._rows, column_names=COLUMNS)


def test_what_spans_of_five_minutes_show(database: Any) -> None:
    rows = Rows(database, 10)
    rows.add(CART, 20, 100, 10, 50, version=2)
    rows.add(CART, 20, 30, 5, 50)  # an earlier version
    rows.add(CART, 30, 20, 20, 50, instance="b")
    rows.add(DB, 290, 3, 1, 0)
    rows.add(DB, 310, 9_999, 99, 50)  # too old
    rows.add(PoolKey("mail", "consumer", ""), 20, 0, 0, 0)  # a correction emptied it
    rows.add(PoolKey("mail", "client", "unknown"), 20, 0, 0, 5)
    rows.insert()
    found = loads(ClickHouse(database.url, READER), 1_000 * rows.now_s, 100)
    assert [(load.key, load.instances) for load in found] == [
        (CART, 2),
        (DB, 1),
        (PoolKey("mail", "client", "unknown"), 1),
    ]
    cart, db, _ = found
    assert (cart.concurrency, db.concurrency) == (pytest.approx(120 / LASTS_S), pytest.approx(3 / LASTS_S))
    # a: a mean of 10 s of 10 by a highest bucket of 10; b: 2 by 20
    assert (cart.steadiest, db.steadiest) == (pytest.approx(1.0), pytest.approx(0.3))


def test_a_course_has_each_instance_and_the_callers_of_all(database: Any) -> None:
    rows = Rows(database, 1)
    first, last = SETTLES_S + LASTS_S, SETTLES_S + 1
    rows.add(CART, first, 2, 4, 7)
    rows.add(CART, first, 3, 5, 8, instance="b")
    rows.add(CART, last, 1, 1, 1)
    rows.add(PoolKey("web", "client", "cart"), first, 6, 9, 1)
    rows.add(PoolKey("app", "client", "cart"), first, 0.5, 1, 1)
    rows.add(PoolKey("web", "client", "other"), first, 50, 9, 1)
    rows.add(DB, last, 0.25, 1, 3)
    rows.add(CART, first + 1, 99, 99, 99)  # too old
    rows.insert()
    asked = [CART, DB, PoolKey("none", "server", "")]
    cart, db, none = courses(ClickHouse(database.url, READER), asked, 1_000 * rows.now_s, 100)
    assert sorted(cart.level[:, 0].tolist()) == [2, 3]
    assert sorted(cart.top[:, 0].tolist()) == [4, 5]
    assert (cart.completions[0], cart.completions[-1], cart.callers[0], cart.callers[1:].sum()) == (15, 1, 6.5, 0)
    assert cart.level.sum() == 6
    # its service's own spans call the database
    assert (db.level[0, -1], db.completions[-1], db.callers[-1], db.callers[0]) == (0.25, 3, 1, 5)
    assert (none.level.shape, none.callers.any(), none.bucket_s) == ((0, LASTS_S), False, 0.1)
