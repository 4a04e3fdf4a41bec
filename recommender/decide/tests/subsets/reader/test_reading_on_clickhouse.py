"""The queries for subsets on the real engine, as the user who only reads."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.subsets.application import Call
from sluice.subsets.observed import ObservedCalls, ObservedContainer, ObservedHost, ObservedTree
from sluice.subsets.reader.reader import LEAST_REQUESTS, SubsetReader
from sluice_kit.decide.tuning_worlds import index_of

pytestmark = pytest.mark.integration

NOW_S = 1_800_000_000
NOW_MS = 1_000 * NOW_S
LATENCY = [
    "service",
    "instance",
    "host",
    "window",
    "window_s",
    "requests",
    "errors",
    "ln_sum",
    "ln_sum2",
    "latency",
    "version",
]
METRICS = [
    "role",
    "host",
    "instance",
    "metric_rank",
    "series",
    "kind",
    "start_ns",
    "window",
    "window_s",
    "points",
    "value_sum",
    "value_min",
    "value_max",
    "first_ns",
    "last_ns",
    "version",
]


def at(age_s: int) -> datetime:
    return datetime.fromtimestamp(NOW_S - age_s, UTC)


def requests(instance: str, host: str, age_s: int, count: int, ms: float = 10.0) -> list[Any]:
    """All of the same latency."""
    ln = math.log(ms * 1e6)
    moments = [round(1e9 * count * ln), round(1e9 * count * ln * ln)]
    return ["cart", instance, host, at(age_s), 10, count, 0, *moments, {}, count]


def level(role: str, host: str, age_s: int, value: float) -> list[Any]:
    whole, ns = round(value * 1e9), (NOW_S - age_s) * 10**9
    return [role, host, "", 1, role, "level", 0, at(age_s), 10, 1, whole, whole, whole, ns, ns, 1]


@pytest.fixture
def client(database: Any) -> Any:
    return database.client("sluice")


@pytest.fixture
def reading(database: Any) -> SubsetReader:
    return SubsetReader(ClickHouse(database.url, READER))


def test_nothing_seen_is_no_error(reading: SubsetReader) -> None:
    observed = reading.observed(NOW_MS, 300_000)
    assert (observed.containers, observed.trees, observed.hosts, observed.newest_s) == ((), (), {}, 0)
    assert reading.samples(NOW_MS, 3_600_000) == {}


def test_containers_are_where_they_were_last_and_counted_once(client: Any, reading: SubsetReader) -> None:
    rows = [
        requests("cart-0", "h1", 40, 5),
        requests("cart-0", "h1", 40, 7),  # a newer version of the same window
        requests("cart-0", "h2", 20, 3),
        requests("cart-1", "h1", 20, 4),
        requests("cart-2", "h1", 700, 4),
    ]
    for row in rows:
        client.insert("container_latency", [row], column_names=LATENCY)
    observed = reading.observed(NOW_MS, 300_000)
    assert observed.containers == (
        ObservedContainer("cart", "cart-0", "h2", 10, NOW_S - 40, NOW_S - 10),
        ObservedContainer("cart", "cart-1", "h1", 4, NOW_S - 20, NOW_S - 10),
    )
    assert (observed.newest_s, observed.window_s) == (NOW_S - 10, 30.0)


def test_trees_come_with_how_often_they_were_seen(client: Any, reading: SubsetReader) -> None:
    cart, mail = '{"service":"cart"}', '{"service":"mail"}'
    text = f'{{"service":"front","operation":"GET /","stages":[[{cart},{mail}],[{cart}]]}}'
    columns = ["root_service", "root_operation", "window", "window_s", "tree", "traces", "version"]
    rows = [["front", "GET /", at(age_s), 10, text, 20, 20] for age_s in (20, 30, 900)]
    rows.append(["front", "GET /", at(20), 10, '{"service":"front","cut":true}', 3, 3])
    client.insert("call_trees", rows, column_names=columns)
    observed = reading.observed(NOW_MS, 300_000)
    tree = Call("front", ((Call("cart"), Call("mail")), (Call("cart"),)))
    assert observed.trees == (ObservedTree("GET /", tree, 40),)
    assert observed.cut == 3


def test_contention_is_that_of_the_newest_minute(client: Any, reading: SubsetReader) -> None:
    rows = [
        level("host_cpu_idle", "h1", 20, 0.7),
        level("host_cpu_idle", "h1", 30, 0.5),
        level("host_cpu_idle", "h1", 200, 0.1),
        level("host_network_utilization", "h1", 20, 0.25),
        level("host_cpu_idle", "h2", 20, 0.9),
    ]
    client.insert("resource_metrics", rows, column_names=METRICS)
    hosts = reading.observed(NOW_MS, 300_000).hosts
    assert hosts.keys() == {"h1", "h2"}
    assert hosts["h1"].cpu == pytest.approx(0.4)
    assert hosts["h1"].network == pytest.approx(0.25)
    assert hosts["h1"].memory_bandwidth is None
    assert isinstance(hosts["h2"], ObservedHost)


def test_samples_are_own_times_with_what_the_host_was_busy_with(client: Any, reading: SubsetReader) -> None:
    rows = [requests("cart-0", "h1", 20, 50, 8.0), requests("cart-1", "h1", 20, LEAST_REQUESTS - 1, 8.0)]
    client.insert("container_own_time", rows, column_names=LATENCY)
    client.insert("resource_metrics", [level("host_cpu_idle", "h1", 20, 0.7)], column_names=METRICS)
    ((samples, windows),) = reading.samples(NOW_MS, 3_600_000).values()
    assert samples.rate_per_s.tolist() == [5.0]
    assert samples.contention[0] == pytest.approx([0.3, math.nan, math.nan], nan_ok=True), "not known is not idle"
    assert np.exp(samples.mu[0]) == pytest.approx(8.0)
    assert samples.sigma[0] == pytest.approx(0.0, abs=1e-3)
    assert windows.tolist() == [NOW_S - 20]


def test_the_p95_of_the_newest_minute_is_over_all_containers(client: Any, reading: SubsetReader) -> None:
    """90 requests of 8 ms and 10 of 80 ms; the index of a latency is good to 1 %. What is older than a minute does not
    count."""
    rows = [
        [*requests("cart-0", "h1", 20, 90, 8.0)[:-2], {index_of(8.0): 90}, 90],
        [*requests("cart-1", "h1", 40, 10, 80.0)[:-2], {index_of(80.0): 10}, 10],
        [*requests("cart-1", "h1", 90, 500, 800.0)[:-2], {index_of(800.0): 500}, 500],
    ]
    client.insert("container_own_time", rows, column_names=LATENCY)
    measured = reading.observed(NOW_MS, 300_000).measured["cart"]
    assert measured.p95_ms == pytest.approx(80.0, rel=0.02)
    assert (measured.requests, measured.since_s, measured.until_s) == (100, NOW_S - 40, NOW_S - 10)


def test_calls_between_containers_are_those_of_the_newest_two_minutes(client: Any, reading: SubsetReader) -> None:
    """Windows of two ages, a row that replaces an earlier one, and one that began 130 s ago."""
    names = ["caller", "caller_instance", "callee", "callee_instance", "window", "window_s", "calls", "version"]
    pair = ["front", "front-0", "cart"]
    rows = [
        [*pair, "cart-0", at(130), 10, 7, 7],
        [*pair, "cart-0", at(120), 10, 5, 5],
        [*pair, "cart-0", at(20), 10, 3, 3],
        [*pair, "cart-0", at(20), 10, 4, 4],
        [*pair, "cart-1", at(20), 10, 1, 1],
    ]
    client.insert("container_calls", rows, column_names=names)
    assert reading.observed(NOW_MS, 300_000).calls == (
        ObservedCalls(*pair, "cart-0", NOW_S - 120, 5),
        ObservedCalls(*pair, "cart-0", NOW_S - 20, 4),
        ObservedCalls(*pair, "cart-1", NOW_S - 20, 1),
    )
