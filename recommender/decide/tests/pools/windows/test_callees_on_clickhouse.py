"""How long a service waits for callees, by the real engine, against sums worked out by hand."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.policy.observation import Buckets
from sluice.pools.windows import Collector

pytestmark = pytest.mark.integration

T0_MS, MS = 1_900_000_000_000, 10**6
COLUMNS = [
    *("side", "service", "peer", "instance", "bucket", "bucket_ms"),
    *("busy_ns", "completions", "errors", "latency", "version"),
]
CART, MIXED, LEAF = (PoolKey(service, "server", "") for service in ("w-cart", "w-mixed", "w-leaf"))
CONFIG = Config.model_validate(
    {
        "window": "10s",
        "settle": "1s",
        "stored_bucket": "100ms",
        "pools": [
            *({"service": key.service, "side": "server", "threshold": "100ms"} for key in (CART, MIXED, LEAF)),
            {"service": "w-mixed", "side": "consumer", "threshold": "100ms"},
        ],
    }
)


def row(
    at: int, side: str, service: str, peer: str, in_flight: float, instance: str = "a", version: int = 1
) -> list[Any]:
    """at: in buckets of 100 ms."""
    bucket = datetime.fromtimestamp((T0_MS + 100 * at) / 1000, UTC)
    return [side, service, peer, instance, bucket, 100, round(in_flight * 100 * MS), 5, 0, {}, version]


def complete(collector: Collector, key: PoolKey, now_ms: int, since_ms: int = -1) -> Buckets:
    window = collector.collect(CONFIG, {}, now_ms)
    found = window.complete[key]
    assert found is not None
    return window.since(key, found, since_ms)


def test_calls_of_all_peers_and_instances_are_summed_and_shared_among_instances(database: Any) -> None:
    rows = []
    for at in range(50):
        rows += [row(at, "server", "w-cart", "", 6.0), row(at, "server", "w-cart", "", 4.0, "b")]
        rows += [row(at, "client", "w-cart", "db", 3.0), row(at, "client", "w-cart", "mail", 1.0, "b")]
        rows += [row(at, "client", "w-cart", "db", 2.0, "b")] if at % 2 else []
        rows += [row(at, "server", "w-leaf", "", 2.0), row(at, "client", "w-other", "w-leaf", 2.0)]
        rows += [row(at, "server", "w-mixed", "", 2.0), row(at, "client", "w-mixed", "db", 1.0)]
    client = database.client("sluice")
    client.insert("windows", rows, column_names=COLUMNS)
    collector = Collector(ClickHouse(database.url, READER))
    cart = complete(collector, CART, T0_MS + 6_000)
    assert cart.concurrency.tolist() == [5.0] * 39
    assert cart.waiting.tolist() == [2.0, 3.0] * 19 + [2.0]
    # A service without calls, and one whose calls may be of another pool, say nothing of a wait.
    assert np.isnan(complete(collector, LEAF, T0_MS + 6_000).waiting).all()
    assert np.isnan(complete(collector, MIXED, T0_MS + 6_000).waiting).all()
    # A row that is written again replaces its older version, of its peer alone.
    client.insert("windows", [row(10, "client", "w-cart", "db", 5.0, version=2)], column_names=COLUMNS)
    assert complete(collector, CART, T0_MS + 6_000).waiting[9:12].tolist() == [3.0, 3.0, 3.0]


def test_what_callees_have_not_sent_yet_is_unknown(database: Any) -> None:
    client = database.client("sluice")
    late = T0_MS + 3_600_000
    first = 36_000
    rows = [row(first + at, "server", "w-cart", "", 2.0) for at in range(60)]
    rows += [row(first + at, "client", "w-cart", "db", 1.0) for at in range(40)]
    client.insert("windows", rows, column_names=COLUMNS)
    cart = complete(Collector(ClickHouse(database.url, READER)), CART, late + 7_000)
    assert len(cart) == 49
    assert cart.waiting[:29].tolist() == [1.0] * 29
    assert np.isnan(cart.waiting[29:]).all()


def test_waits_after_an_instance_came_are_unknown_whatever_of_them_is_asked_for(database: Any) -> None:
    """One instance, a second one from 10 s on: it counts from 5 s on, and the waits of 20 s after that are unknown."""
    client, first = database.client("sluice"), 72_000
    begin_ms = T0_MS + 100 * first
    rows = []
    for at in range(400):
        rows += [row(first + at, "server", "w-cart", "", 2.0), row(first + at, "client", "w-cart", "db", 1.0)]
        rows += [row(first + at, "server", "w-cart", "", 2.0, "b")] if at >= 100 else []
    client.insert("windows", rows, column_names=COLUMNS)
    config = CONFIG.model_copy(update={"window": 60_000.0})
    window = Collector(ClickHouse(database.url, READER)).collect(config, {}, begin_ms + 40_000)
    found = window.complete[CART]
    assert found is not None
    waiting = window.since(CART, found, -1).waiting
    assert waiting[:50].tolist() == [1.0] * 50
    assert np.isnan(waiting[50:250]).all()
    assert waiting[250:].tolist() == [0.5] * (len(found) - 250)
    for after in (0, 49, 50, 200, 249, 300, len(found) - 1):
        new = window.since(CART, found, int(found.start_ms[after]))
        np.testing.assert_array_equal(new.waiting, waiting[after + 1 :])
