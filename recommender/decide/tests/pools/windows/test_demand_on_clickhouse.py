"""What is asked of pools, and who waits for them, by the real engine, against sums worked out by hand."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.config import Config
from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.pools.windows import Collector
from sluice.pools.windows.demand import until_s
from testbed.windows import latency_index

pytestmark = pytest.mark.integration

TO_S = 1_800_000_000
MS = 10**6
CART, ALONE = PoolKey("cart", "server", ""), PoolKey("alone", "server", "")
TO_DB = PoolKey("cart", "client", "db")
COLUMNS = [
    *("side", "service", "peer", "instance", "start", "bucket_ms", "busy_ns", "busy_buckets", "min_busy_ns"),
    *("max_busy_ns", "completions", "errors", "latency", "version", "seen"),
]


def row(
    age_s: int,
    side: str,
    service: str,
    peer: str,
    instance: str,
    done: dict[int, int],
    version: int = 1,
    in_flight: float = 0.0,
) -> Any:
    """done: completions by their latency in ms. in_flight: mean over the minute, all of it in these 10 s."""
    start = datetime.fromtimestamp(TO_S - age_s, UTC)
    count = sum(done.values())
    latency: dict[int, int] = {}
    for ms, n in done.items():
        latency[latency_index(ms * MS)] = n
    return [
        side,
        service,
        peer,
        instance,
        start,
        100,
        round(in_flight * 60e9),
        100,
        1,
        10**8,
        count,
        0,
        latency,
        version,
        start,
    ]


def config() -> Config:
    return Config.model_validate(
        {
            "pools": [
                {"service": "alone", "side": "server", "threshold": "100ms"},
                {"service": "cart", "side": "client", "peer": "db", "threshold": "100ms"},
                {"service": "cart", "side": "server", "threshold": "100ms"},
                {"service": "quiet", "side": "server", "threshold": "100ms"},
                {"service": "shop", "side": "client", "peer": "db", "threshold": "100ms"},
                {"service": "shop", "side": "server", "threshold": "100ms"},
            ]
        }
    )


def test_callers_tell_what_is_asked_and_what_is_late(database: Any) -> None:
    rows = [
        row(10, "server", "cart", "", "cart-1", {20: 900}, in_flight=3.0),
        row(60, "server", "cart", "", "cart-2", {20: 900}, in_flight=5.0),
        row(10, "client", "front", "cart", "front-1", {30: 900, 2_000: 600}),
        row(10, "client", "front", "cart", "front-1", {30: 1_200, 2_000: 1_000}, 2, 30.0),  # the same, of later
        row(20, "client", "jobs", "cart", "jobs-1", {60: 200}, in_flight=2.0),
        row(10, "client", "front", "other", "front-1", {30: 5_000}),
        row(10, "client", "cart", "db", "cart-1", {30: 5_000}, in_flight=1.0),
        row(70, "server", "cart", "", "cart-3", {20: 900}),  # before the minute
        row(0, "client", "front", "cart", "front-1", {30: 900}),  # after it
        row(30, "server", "alone", "", "alone-1", {500: 600}),
    ]
    database.client("sluice").insert("windows_10s", rows, column_names=COLUMNS)
    thresholds = {pool.key: 100 * MS for pool in config().pools}
    found = Collector(ClickHouse(database.url, READER)).demand(config(), thresholds, TO_S)
    # 2,200 + 200 of two instances in 60 s: 20 a second; 1,400 of 2,400 within 100 ms. Nobody calls the other. Callers
    # have 32 in flight, it has 8: 24 wait, 12 for each instance.
    assert found[CART] == Demand(1000 * TO_S, 20.0, pytest.approx(1_400 / 2_400), 4.0, 12.0)
    assert found[ALONE] == Demand(1000 * TO_S, 10.0, None, 0.0, None)
    # The connections are asked for by 1,800 requests, all of them in time, of which 8 are in flight, and 1 in a call.
    assert found[TO_DB] == Demand(1000 * TO_S, 30.0, 1.0, 1.0, 7.0, of_threads=False)
    assert found.keys() == {CART, ALONE, TO_DB}


def test_requests_that_hold_no_call_wait_for_a_connection(database: Any) -> None:
    """Of 94 requests in flight 0.4 are in a query, and 10 in a call of mail: they wait for that one. What others of db
    hold is no matter."""
    rows = [
        row(10, "server", "shop", "", "shop-1", {9_200: 582}, in_flight=94.0),
        row(10, "client", "shop", "db", "shop-1", {40: 582}, in_flight=0.4),
        row(20, "client", "shop", "mail", "shop-1", {500: 1_200}, in_flight=10.0),
        row(20, "client", "other", "db", "other-1", {40: 600}, in_flight=50.0),
    ]
    database.client("sluice").insert("windows_10s", rows, column_names=COLUMNS)
    thresholds = {pool.key: 100 * MS for pool in config().pools}
    found = Collector(ClickHouse(database.url, READER)).demand(config(), thresholds, TO_S)
    shop = found[PoolKey("shop", "client", "db")]
    assert shop == Demand(1000 * TO_S, 9.7, 0.0, 0.4, pytest.approx(83.6), of_threads=False)
    # Nobody's CLIENT spans tell who waits for its threads.
    assert found[PoolKey("shop", "server", "")] == Demand(1000 * TO_S, 9.7, None, 94.0, None)


def test_a_minute_is_asked_for_when_its_rows_are_written() -> None:
    assert until_s(1_000_000_039_999) == 1_000_000_000
    assert until_s(1_000_000_040_000) == 1_000_000_010
