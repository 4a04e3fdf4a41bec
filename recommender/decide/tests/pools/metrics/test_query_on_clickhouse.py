"""Sizes from `pool_metrics`, and the peers of services, by the real engine."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.clickhouse.connection import READER, ClickHouse
from sluice.model.keys import PoolKey
from sluice.pools.metrics import query
from sluice.pools.metrics.pool_metric import PoolMetric
from sluice.pools.metrics.use import report_of, waits_of
from sluice_kit.servers.rows import now

pytestmark = pytest.mark.integration

COLUMNS = ["service", "instance", "side", "pool", "peer", "figure", "metric_rank", "series", "kind", "start_ns"]
COLUMNS += ["window", "window_s", "points", "value_sum", "value_min", "value_max", "first_ns", "last_ns", "version"]
PEERS = ["side", "service", "peer", "instance", "start", "bucket_ms", "busy_ns", "busy_buckets", "min_busy_ns"]
PEERS += ["max_busy_ns", "completions", "errors", "latency", "version", "seen"]


def row(now_s: int, age_s: int, size: int, version: int = 1, **fields: Any) -> list[object]:
    at_s = now_s - age_s
    service, figure, peer = fields.get("service", "shop"), fields.get("figure", "size"), fields.get("peer", "db/shop")
    key = [service, "shop-1", "client", "HikariPool-1", peer, figure, 5, fields.get("series", "m pool=HikariPool-1")]
    window = datetime.fromtimestamp(at_s // 10 * 10, UTC)
    kind = fields.get("kind", "level")
    return [*key, kind, 0, window, 10, 1, size, size, size, at_s * 10**9, at_s * 10**9, version]


def test_the_newest_three_minutes_of_some_services(database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "SERVICES", 1)
    client = database.client("sluice")
    now_s = round(now(client).timestamp()) // 10 * 10
    rows = [
        row(now_s, 60, 12, version=2),
        row(now_s, 60, 10),  # an earlier version of the same window
        row(now_s, 120, 10),
        row(now_s, 200, 8),  # too old
        row(now_s, 60, 20, service="other"),
        row(now_s, 60, 30, service="cart"),
        row(now_s, 60, 4, figure="used"),
        row(now_s, 60, 4, series="(more)"),
    ]
    client.insert("pool_metrics", rows, column_names=COLUMNS)
    found = query.pool_metrics(ClickHouse(database.url, READER), ["shop", "cart", "shop"], 1_000 * now_s)
    sizes = [(one.service, one.low, one.last_ms // 1_000 - now_s) for one in found.sizes]
    assert sizes == [("shop", 10, -120), ("cart", 30, -60), ("shop", 12, -60)]
    at_ms = 1_000 * (now_s - 60)
    series = "m pool=HikariPool-1"
    assert found.sizes[2] == PoolMetric(
        "shop", "shop-1", "client", "HikariPool-1", "db/shop", 5, series, 12, 12, at_ms, at_ms
    )
    assert found.peers == {}  # each pool names its own


def test_peers_are_asked_for_where_a_pool_names_none(database: Any) -> None:
    client = database.client("sluice")
    now_s = round(now(client).timestamp()) // 10 * 10
    client.insert("pool_metrics", [row(now_s, 60, 12, peer="", service="store")], column_names=COLUMNS)

    def windows(peer: str, age_s: int, done: int, side: str = "client") -> list[object]:
        start = datetime.fromtimestamp(now_s - age_s, UTC)
        return [side, "store", peer, "i", start, 100, done * 10**6, 1, 1, 1, done, 0, {}, 1, start]

    rows = [
        windows("db/shop", 60, 5),
        windows("db/shop", 70, 5),
        windows("10.0.0.7:5432", 80, 0),  # it moved to the name that traces show
        windows("mail", 700, 5),  # too old
        windows("unknown", 10, 5),  # too new
        windows("", 60, 5, side="server"),
    ]
    client.insert("windows_10s", rows, column_names=PEERS)
    found = query.pool_metrics(ClickHouse(database.url, READER), ["store"], 1_000 * now_s)
    assert found.peers == {"store": frozenset({"db/shop"})}


def test_what_is_used_and_who_waits(database: Any) -> None:
    """Of the lowest rank, by window, with the growth of counters; a pool without a name has one series."""
    client = database.client("sluice")
    now_s = round(now(client).timestamp()) // 10 * 10

    def of(figure: str, age_s: int, value: int, **fields: Any) -> list[object]:
        return row(now_s, age_s, value, service="used", figure=figure, **{"series": f"{figure} state=x", **fields})

    def other_agent(sent: list[object]) -> list[object]:
        return [*sent[:6], 7, *sent[7:]]

    client.insert(
        "pool_metrics",
        [
            of("size", 65, 10),
            *(of("used", age_s, used) for age_s, used in ((125, 4), (65, 10), (5, 10))),
            *(of("pending", age_s, 12) for age_s in (65, 5)),
            # A second agent has the same pool, by a metric of a higher rank.
            *(other_agent(of("used", age_s, 99, series="other state=x")) for age_s in (65, 5)),
            *(of("wait_time", age_s, ns, kind="counter") for age_s, ns in ((65, 10**9), (5, 49 * 10**9))),
            *(of("waits", age_s, waits, kind="counter") for age_s, waits in ((65, 800), (5, 2_000))),
        ],
        column_names=COLUMNS,
    )
    found = query.pool_metrics(ClickHouse(database.url, READER), ["used"], 1_000 * now_s)
    (size,), use = found.sizes, found.uses[found.sizes[0].of]
    assert size.of == ("used", "shop-1", "client", "HikariPool-1", "db/shop")
    assert [(one.last_ms // 1_000 - now_s, one.low, one.mean) for one in use["used"].readings] == [
        (-125, 4, 4.0),
        (-65, 10, 10.0),
        (-5, 10, 10.0),
    ]
    assert (use["pending"].metric, use["wait_time"].per_s, use["waits"].per_s) == ("pending", 0.8e9, 20.0)
    report = report_of(use, 10, 0)
    assert report is not None
    assert (report.full, report.readings, report.waiting) == (2, 2, (12, 12.0, 12))
    (reason,) = waits_of(PoolKey("used", "client", "db/shop"), [use], 1_000 * now_s)
    assert reason.text == "12 callers wait for a connection, for 40 ms on the mean, by pending"


def test_without_metrics_nothing_is_found(database: Any) -> None:
    found = query.pool_metrics(ClickHouse(database.url, READER), ["nobody"], 1_800_000_000_000)
    assert (found.sizes, found.peers) == ([], {})
