"""The cookbook's answers where the right ones are known: rows are put where the recipe reads, with times before now."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from migrate.statements import read
from sluice_kit.servers.rows import MS, now
from testbed.windows import latency_index

COOKBOOK = Path(__file__).resolve().parents[1] / "clickhouse/cookbook"
ROLLED = ["side", "service", "peer", "instance", "start", "bucket_ms", "busy_ns", "max_busy_ns"]
ROLLED += ["completions", "errors", "latency", "version"]
# The middle of a histogram's bucket is within 0.55 % of every duration in it.
NEAR = {"rel": 0.011}


@pytest.fixture
def end(client: Client) -> datetime:
    return now(client)


def answer(client: Client, recipe: str) -> list[dict[str, Any]]:
    (statement,) = read(COOKBOOK / f"{recipe}.sql")
    return list(client.query(statement.text).named_results())


def rolled(
    key: tuple[str, str, str, str],
    start: datetime,
    busy_s: float,
    latency_ms: dict[float, int],
    errors: int = 0,
    **of: int,
) -> list[Any]:
    """A row of a rollup: `busy_s` seconds of work, completions by their milliseconds. `peak` of one fine window."""
    latency = {latency_index(round(ms * MS)): count for ms, count in latency_ms.items()}
    completions = sum(latency_ms.values())
    return [*key, start, 100, round(busy_s * 1e9), of.get("peak", 1) * 10**8, completions, errors, latency, 1]


def server(service: str, instance: str = "a") -> tuple[str, str, str, str]:
    return ("server", service, "", instance)


def test_completions_against_an_hour_ago(client: Client, end: datetime) -> None:
    """cart: 600 now, 1200 then, in 5 minutes. mail is new, orders is gone. Other times do not count."""
    client.insert(
        "windows_10s",
        [
            rolled(server("cart"), end - timedelta(minutes=1), 1, {10: 400}),
            rolled(server("cart", "b"), end - timedelta(minutes=4), 1, {10: 200}),
            rolled(server("cart"), end - timedelta(minutes=61), 1, {10: 1200}),
            rolled(server("cart"), end - timedelta(minutes=7), 1, {10: 9999}),
            rolled(server("cart"), end - timedelta(minutes=58), 1, {10: 9999}),
            rolled(server("mail"), end - timedelta(minutes=1), 1, {10: 30}),
            rolled(server("orders"), end - timedelta(minutes=61), 1, {10: 30}),
            rolled(("client", "cart", "mail", "a"), end - timedelta(minutes=1), 1, {10: 30}),
        ],
        ROLLED,
    )
    assert [tuple(row.values()) for row in answer(client, "completions_against_an_hour_ago")] == [
        ("orders", 0.0, 0.1, -100.0),
        ("cart", 2.0, 4.0, -50.0),
        ("mail", 0.1, 0.0, None),
    ]


def test_error_bursts(client: Client, end: datetime) -> None:
    first, second = (end.replace(microsecond=0) - timedelta(minutes=minutes) for minutes in (20, 10))
    client.insert(
        "windows_1s",
        [
            rolled(server("cart", "a"), first, 1, {10: 50}, errors=30),
            rolled(server("cart", "b"), first, 1, {10: 50}, errors=2),
            rolled(server("cart", "c"), first, 1, {10: 50}),
            rolled(server("mail", "a"), first, 1, {10: 50}, errors=9),
            rolled(server("cart", "b"), second, 1, {10: 7}, errors=5),
            rolled(server("cart", "a"), end - timedelta(minutes=61), 1, {10: 50}, errors=50),
        ],
        ROLLED,
    )
    assert [tuple(row.values())[1:] for row in answer(client, "error_bursts")] == [
        ("cart", "a", 30, 50, 2),
        ("mail", "a", 9, 50, 0),
        ("cart", "b", 5, 7, 0),
        ("cart", "b", 2, 50, 30),
    ]


def test_peak_by_hour(client: Client, end: datetime) -> None:
    """Three days, 02:00 and 03:00: the peak of the hour is that of one minute of one instance."""
    midnight = end.replace(hour=0, minute=0, second=0, microsecond=0)
    rows = [
        rolled(server("cart"), midnight - timedelta(days=day, hours=-hour, minutes=-5), 60 * hour, {10: 1}, peak=peak)
        for day, hour, peak in ((1, 2, 4), (2, 2, 9), (3, 2, 5), (1, 3, 7))
    ]
    rows.append(rolled(server("cart"), midnight - timedelta(days=9), 60, {10: 1}, peak=99))
    rows.append(rolled(server("mail"), midnight - timedelta(days=1, hours=-2), 60, {10: 1}, peak=99))
    client.insert("windows_1m", rows, ROLLED)
    two, three = answer(client, "peak_by_hour")
    assert (two["hour_utc"], two["peak"], two["p95_of_minutes"], two["mean_in_flight"]) == (2, 9.0, 9.0, 2.0)
    assert two["peak_at"].day == (midnight - timedelta(days=2)).day
    assert (three["hour_utc"], three["peak"], three["mean_in_flight"]) == (3, 7.0, 3.0)


def test_uneven_connections(client: Client, end: datetime) -> None:
    """cart: 6, 2 and 1 in flight over the 15 minutes: mean 3, deviations 3, -1, -2, of standard sqrt(14/3) = 2.16."""

    def in_flight(service: str, peer: str, instance: str, mean: float) -> list[Any]:
        return rolled(("client", service, peer, instance), end - timedelta(minutes=5), 900 * mean, {10: 1})

    client.insert(
        "windows_10s",
        [
            *(in_flight("cart", "cart-db", name, mean) for name, mean in (("a", 2.0), ("b", 6.0), ("c", 1.0))),
            *(in_flight("mail", "mail-db", name, 4.0) for name in "ab"),
            rolled(server("cart", "z"), end - timedelta(minutes=5), 9000, {10: 1}),
        ],
        ROLLED,
    )
    assert [tuple(row.values()) for row in answer(client, "uneven_connections")] == [
        ("cart", "cart-db", 3, 3.0, "b", 2.0, 0.72),
        ("mail", "mail-db", 2, 4.0, "a", 1.0, 0.0),
    ]


def test_queueing_over_time(client: Client, end: datetime) -> None:
    """A minute without a queue, then one in which 2 of 100 wait 200 ms before their 20 ms."""
    first, second = (end.replace(second=0, microsecond=0) - timedelta(minutes=minutes) for minutes in (9, 8))
    caller = ("client", "frontend", "cart", "x")
    client.insert(
        "windows_1m",
        [
            rolled(server("cart"), first, 1, {20: 100}),
            rolled(caller, first, 1, {21: 100}),
            rolled(server("cart"), second, 1, {20: 100}),
            rolled(caller, second, 1, {21: 98, 220: 2}),
            rolled(("client", "frontend", "mail", "x"), second, 1, {900: 100}),
        ],
        ROLLED,
    )
    calm, queue = answer(client, "queueing_over_time")
    assert calm["wait_ms"] == pytest.approx(1, abs=0.5)
    assert queue["seen_by_callers_ms"] == pytest.approx(220, **NEAR)
    assert queue["own_spans_ms"] == pytest.approx(20, **NEAR)
    assert queue["wait_ms"] == pytest.approx(200, **NEAR)


def test_latency_around_actuations(client: Client, end: datetime) -> None:
    """Before the resize more than half of the calls take 300 ms, after it 2 of 100. Beyond a minute nothing counts."""
    at = end - timedelta(minutes=10)
    columns = [
        "side",
        "service",
        "peer",
        "instance",
        "bucket",
        "bucket_ms",
        "busy_ns",
        "completions",
        "latency",
        "version",
    ]
    fast, slow, slower = (latency_index(ms * MS) for ms in (20, 300, 2000))
    client.insert(
        "windows",
        [
            ["client", "frontend", peer, "x", at + timedelta(seconds=seconds), 100, 1, 100, latency, 1]
            for peer, seconds, latency in (
                ("cart", -50, {fast: 40, slow: 60}),
                ("cart", -1, {fast: 45, slow: 55}),
                ("cart", 1, {fast: 100}),
                ("cart", 50, {fast: 96, slow: 4}),
                ("cart", -70, {slower: 1000}),
                ("cart", 70, {slower: 1000}),
                ("mail", 1, {slower: 1000}),
            )
        ],
        columns,
    )
    names = [
        "service",
        "side",
        "peer",
        "at",
        "target_name",
        "actuator",
        "outcome",
        "requested",
        "previous",
        "read_back",
    ]
    client.insert("actuations", [["cart", "server", "", at, "t", "x", "APPLIED", 8, 64, 8]], names)
    (row,) = answer(client, "latency_around_actuations")
    assert (row["service"], row["size_before"], row["size_after"]) == ("cart", 64, 8)
    assert row["p50_before_ms"] == pytest.approx(300, **NEAR)
    assert row["p99_before_ms"] == pytest.approx(300, **NEAR)
    assert row["p50_after_ms"] == pytest.approx(20, **NEAR)
    assert row["p99_after_ms"] == pytest.approx(300, **NEAR)


def ten_seconds(end: datetime, minutes: int) -> datetime:
    return end.replace(second=0, microsecond=0) - timedelta(minutes=minutes)


def test_lost_spans(client: Client, end: datetime) -> None:
    """Of 2000 spans read 20 have no service: 1 %. A superseded version of the row does not count."""
    names = ["job", "outcome", "service", "received", "messages", "spans", "version"]
    early, late = ten_seconds(end, 30), ten_seconds(end, 20)
    client.insert(
        "ingest_counts",
        [
            ["concurrency", "accepted", "cart", early, 0, 1900, 2],
            ["concurrency", "accepted_cut", "cart", late, 0, 80, 2],
            ["concurrency", "missing_service", "", early, 0, 3, 1],
            ["concurrency", "missing_service", "", early, 0, 5, 2],
            ["concurrency", "missing_service", "", late, 0, 15, 2],
            ["concurrency", "malformed_message", "", late, 4, 0, 2],
            ["call_graph", "accepted", "cart", early, 0, 7, 2],
        ],
        names,
    )
    assert [tuple(row.values()) for row in answer(client, "lost_spans")] == [
        ("concurrency", "missing_service", "", 20, 0, 1.0, *(at.replace(tzinfo=None) for at in (early, late, late))),
        ("concurrency", "malformed_message", "", 0, 4, 0.0, *(late.replace(tzinfo=None),) * 3),
    ]


def test_slow_exporters(client: Client, end: datetime) -> None:
    names = ["job", "outcome", "service", "received", "spans", "emit_lag_ms", "version"]
    at = ten_seconds(end, 3)
    client.insert(
        "ingest_counts",
        [
            ["concurrency", "accepted", "cart", at, 300, 300 * 100, 1],
            ["concurrency", "accepted_cut", "cart", at, 100, 100 * 500, 1],
            ["concurrency", "accepted", "mail", at, 10, 10 * 4000, 1],
            ["concurrency", "ends_before_start", "mail", at, 90, 0, 1],
            ["call_graph", "accepted", "cart", at, 300, 300 * 900, 1],
        ],
        names,
    )
    got = [tuple(row.values()) for row in answer(client, "slow_exporters")]
    assert got == [("mail", 10, 4000.0), ("cart", 400, 200.0)]


EDGE = ["caller", "callee", "window", "window_s", "calls", "errors", "version"]


def test_call_amplification(client: Client, end: datetime) -> None:
    """cart gets 100 + 20 calls and makes 360; its database makes none; what nobody calls is not there."""
    at = ten_seconds(end, 3)
    edges = [("frontend", "cart", 100), ("orders", "cart", 20), ("cart", "cart-db", 300), ("cart", "mail", 60)]
    client.insert("call_edges", [[caller, callee, at, 10, calls, 0, 1] for caller, callee, calls in edges], EDGE)
    assert [tuple(row.values()) for row in answer(client, "call_amplification")] == [
        ("cart", 120, 360, 3.0),
        ("cart-db", 300, 0, 0.0),
        ("mail", 60, 0, 0.0),
    ]


def test_failing_calls(client: Client, end: datetime) -> None:
    recent, before = ten_seconds(end, 2), ten_seconds(end, 30)
    client.insert(
        "call_edges",
        [
            ["frontend", "cart", before, 10, 1000, 10, 1],
            ["frontend", "cart", recent, 10, 100, 1, 1],
            ["frontend", "cart", recent, 10, 200, 10, 2],
            ["cart", "mail", before, 10, 100, 10, 1],
            ["cart", "mail", recent, 10, 100, 9, 1],
            ["cart", "new", recent, 10, 50, 1, 1],
            ["cart", "gone", before, 10, 50, 1, 1],
        ],
        EDGE,
    )
    got = [tuple(row.values()) for row in answer(client, "failing_calls")]
    assert [row[:4] for row in got] == [
        ("frontend", "cart", 200, 5.0),
        ("cart", "new", 50, 2.0),
        ("cart", "mail", 100, 9.0),
    ]
    assert [row[4] for row in got] == [1.0, pytest.approx(float("nan"), nan_ok=True), 10.0]


def test_silent_instances(client: Client, end: datetime) -> None:
    """b of cart has said nothing for 10 minutes. All of mail is silent: that is no instance's fault."""
    client.insert(
        "windows_10s",
        [
            rolled(server("cart", "a"), end - timedelta(seconds=20), 1, {10: 5}),
            rolled(server("cart", "b"), end - timedelta(minutes=10), 1, {10: 5}),
            rolled(server("cart", "b"), end - timedelta(minutes=20), 1, {10: 2}),
            rolled(server("cart", "c"), end - timedelta(minutes=70), 1, {10: 5}),
            rolled(server("mail", "a"), end - timedelta(minutes=10), 1, {10: 5}),
        ],
        ROLLED,
    )
    (row,) = answer(client, "silent_instances")
    assert (row["service"], row["instance"], row["completions_before"]) == ("cart", "b", 7)


def test_latency_heatmap(client: Client, end: datetime) -> None:
    """2^24 ns = 16.777 ms: 10 and 16 ms lie in (2^23, 2^24], 20 ms in the next, 500 ms in (2^28, 2^29]."""
    at = end.replace(second=0, microsecond=0) - timedelta(minutes=5)
    client.insert(
        "windows_1m",
        [
            rolled(server("cart", "a"), at, 1, {10: 3, 20: 5, 500: 1}),
            rolled(server("cart", "b"), at, 1, {16: 4}),
            rolled(server("mail"), at, 1, {16: 4}),
        ],
        ROLLED,
    )
    assert [tuple(row.values())[1:] for row in answer(client, "latency_heatmap")] == [
        (8.389, 16.777, 7),
        (16.777, 33.554, 5),
        (268.435, 536.871, 1),
    ]
