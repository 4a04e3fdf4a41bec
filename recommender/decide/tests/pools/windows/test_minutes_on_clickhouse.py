"""Minutes of pools by the real engine, against figures worked out by hand."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.windows import Collector
from sluice.pools.windows.minutes import Minutes, until_s
from testbed.windows import latency_index

pytestmark = pytest.mark.integration

END_S = 1_800_000_000
MS = 10**6
COLUMNS = ["side", "service", "peer", "instance", "start", "bucket_ms", "busy_ns", "completions", "latency", "version"]
POOLS = [
    {"service": "cart", "side": "server"},
    {"service": "cart", "side": "client", "peer": "db"},
    {"service": "alone", "side": "server"},
    {"service": "mail", "side": "consumer"},
    {"service": "given", "side": "server", "threshold": "1s"},
]


def row(age_s: int, pool: PoolKey, instance: str, in_flight: float, done: dict[int, int], version: int = 1) -> Any:
    """done: completions by their latency in ms. in_flight: mean over the minute."""
    start = datetime.fromtimestamp(END_S - age_s, UTC)
    latency = {latency_index(ms * MS): n for ms, n in done.items()}
    return [pool.side, pool.service, pool.peer, instance, start, 100, round(in_flight * 60e9), 1, latency, version]


CART, DB = PoolKey("cart", "server", ""), PoolKey("cart", "client", "db")
FRONT = PoolKey("front", "client", "cart")
ALONE, MAIL, GIVEN = PoolKey("alone", "server", ""), PoolKey("mail", "consumer", ""), PoolKey("given", "server", "")


def test_each_pool_has_its_busiest_instance_and_the_times_of_its_judges(database: Any) -> None:
    rows = [
        row(60, CART, "cart-1", 1.0, {20: 100}),
        row(60, CART, "cart-2", 3.0, {20: 100}),
        row(120, CART, "cart-1", 2.0, {20: 100}),
        row(60, FRONT, "front-1", 9.0, {30: 100}),
        row(60, FRONT, "front-1", 9.0, {30: 190, 60: 8, 90: 2}, 2),  # the same minute, of later
        row(60, DB, "cart-1", 0.5, {5: 100}),
        row(60, ALONE, "alone-1", 1.5, {40: 20}),
        row(120, ALONE, "alone-1", 1.5, {40: 19}),  # one short of 20
        row(60, MAIL, "mail-1", 2.0, {70: 30}),
        row(60, GIVEN, "given-1", 2.0, {70: 30}),
        row(0, ALONE, "alone-1", 1.5, {40: 20}),  # after the stretch
    ]
    database.client("sluice").insert("windows_1m", rows, column_names=COLUMNS)
    found = Collector(ClickHouse(database.url, READER)).minutes(
        Config.model_validate({"pools": POOLS}), END_S - 600, END_S
    )
    assert found.keys() == {CART, DB, ALONE, MAIL}
    # Of 200 calls, the 190th takes 30 ms, the 198th 60 ms. Nobody's CLIENT spans show the minute before.
    check(found[CART], (120, 2.0, 20, 20), (60, 3.0, 30, 60))
    check(found[DB], (60, 0.5, 20, 20))
    check(found[ALONE], (60, 1.5, 40, 40))
    check(found[MAIL], (60, 2.0, 70, 70))


def check(found: Minutes, *expected: tuple[int, float, float, float]) -> None:
    """Age in seconds, in flight, p95 and p99 in ms; times within their bucket."""
    age_s, in_flight, p95_ms, p99_ms = zip(*expected, strict=True)
    assert (END_S - found.start_s).tolist() == list(age_s)
    assert found.in_flight.tolist() == list(in_flight)
    assert found.p95_ms.tolist() == pytest.approx(p95_ms, rel=0.011)
    assert found.p99_ms.tolist() == pytest.approx(p99_ms, rel=0.011)


def test_a_minute_is_asked_for_when_its_rows_are_written() -> None:
    assert until_s(1_000 * (END_S + 119)) == END_S
    assert until_s(1_000 * (END_S + 120)) == END_S + 60
