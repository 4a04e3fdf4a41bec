"""What is asked of server pools, by the real engine, against sums worked out by hand."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.collect import Collector
from sluice.collect.demand import until_s
from sluice.config import Config
from sluice.control.clickhouse import READER, ClickHouse
from sluice.core.keys import PoolKey
from sluice.pools.policy.observation import Demand
from testbed.windows import latency_index

pytestmark = pytest.mark.integration

TO_S = 1_800_000_000
MS = 10**6
CART, ALONE = PoolKey("cart", "server", ""), PoolKey("alone", "server", "")
COLUMNS = [
    *("side", "service", "peer", "instance", "start", "bucket_ms", "busy_ns", "busy_buckets", "min_busy_ns"),
    *("max_busy_ns", "completions", "errors", "latency", "version", "seen"),
]


def row(age_s: int, side: str, service: str, peer: str, instance: str, done: dict[int, int], version: int = 1) -> Any:
    """done: completions by their latency in ms."""
    start = datetime.fromtimestamp(TO_S - age_s, UTC)
    count = sum(done.values())
    latency: dict[int, int] = {}
    for ms, n in done.items():
        latency[latency_index(ms * MS)] = n
    return [side, service, peer, instance, start, 100, 10**9, 100, 1, 10**8, count, 0, latency, version, start]


def config() -> Config:
    return Config.model_validate(
        {
            "pools": [
                {"service": "alone", "side": "server", "threshold": "100ms"},
                {"service": "cart", "side": "client", "peer": "db", "threshold": "100ms"},
                {"service": "cart", "side": "server", "threshold": "100ms"},
                {"service": "quiet", "side": "server", "threshold": "100ms"},
            ]
        }
    )


def test_callers_tell_what_is_asked_and_what_is_late(database: Any) -> None:
    rows = [
        row(10, "server", "cart", "", "cart-1", {20: 900}),
        row(60, "server", "cart", "", "cart-2", {20: 900}),
        row(10, "client", "front", "cart", "front-1", {30: 900, 2_000: 600}),
        row(10, "client", "front", "cart", "front-1", {30: 1_200, 2_000: 1_000}, version=2),  # the same, of later
        row(20, "client", "jobs", "cart", "jobs-1", {60: 200}),
        row(10, "client", "front", "other", "front-1", {30: 5_000}),
        row(10, "client", "cart", "db", "cart-1", {30: 5_000}),
        row(70, "server", "cart", "", "cart-3", {20: 900}),  # before the minute
        row(0, "client", "front", "cart", "front-1", {30: 900}),  # after it
        row(30, "server", "alone", "", "alone-1", {500: 600}),
    ]
    database.client("sluice").insert("windows_10s", rows, column_names=COLUMNS)
    thresholds = {pool.key: 100 * MS for pool in config().pools}
    found = Collector(ClickHouse(database.url, READER)).demand(config(), thresholds, TO_S)
    # 2,200 + 200 of two instances in 60 s: 20 a second; 1,400 of 2,400 within 100 ms. Nobody calls the other.
    assert found[CART] == Demand(1000 * TO_S, 20.0, pytest.approx(1_400 / 2_400))
    assert found[ALONE] == Demand(1000 * TO_S, 10.0, None)
    assert found.keys() == {CART, ALONE}


def test_a_minute_is_asked_for_when_its_rows_are_written() -> None:
    assert until_s(1_000_000_039_999) == 1_000_000_000
    assert until_s(1_000_000_040_000) == 1_000_000_010
