"""Goodput of hand-worked windows, through the views."""

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

INDICES = Path(__file__).resolve().parents[2] / "tests/contract/latency_index.csv"
START = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(
    hours=2
)  # older rows than the TTL vanish
START_MS = int(START.timestamp() * 1000)
COLUMNS = [
    "side",
    "service",
    "peer",
    "instance",
    "bucket",
    "bucket_ms",
    "busy_ns",
    "completions",
    "errors",
    "latency",
    "version",
]
# Index 1279 holds (2^(1279/64), 2^20] ns: the last bucket that is wholly within 2^20 ns = 1.048576 ms.
FAST, SLOW = 1279, 1280


def window(
    side: str, service: str, peer: str, instance: str, nth: int, in_flight: float, latency: dict[int, int]
) -> list[Any]:
    """A row of the 100 ms bucket number `nth`."""
    bucket = START + timedelta(milliseconds=100 * nth)
    return [
        side, service, peer, instance, bucket, 100, int(in_flight * 1e8), sum(latency.values()), 0, latency, 1,
    ]  # fmt: skip


def curve(client: Client, side: str, service: str, peer: str, threshold_ms: float) -> list[tuple[Any, ...]]:
    query = (
        "SELECT concurrency, goodput_per_s, throughput_per_s, samples, latency_source FROM v_goodput_curve_between("
        f"service = '{service}', side = '{side}', peer = '{peer}', threshold_ms = {threshold_ms}, "
        f"from_ms = {START_MS}, until_ms = {START_MS + 1000})"
    )
    return [tuple(row) for row in client.query(query).result_rows]


def test_own_spans_judge_a_pool_that_has_no_caller(client: Client) -> None:
    rows = [
        window("server", "cart", "", "a", 0, 2.0, {FAST: 3, SLOW: 1}),
        window("server", "cart", "", "a", 1, 2.2, {FAST: 1}),  # the same level, 2
        window("server", "cart", "", "a", 2, 4.0, {SLOW: 5}),
        window("server", "other", "", "a", 2, 4.0, {FAST: 9}),
    ]
    client.insert("windows", rows, column_names=COLUMNS)
    # level 2: (3 + 1) / 2 buckets of 0.1 s = 20/s good, (4 + 1) / 2 / 0.1 = 25/s all; level 4: none good, 50/s all
    assert curve(client, "server", "cart", "", 1.048576) == [
        (pytest.approx(2.1), pytest.approx(20), pytest.approx(25), 2, "own"),
        (pytest.approx(4.0), pytest.approx(0), pytest.approx(50), 1, "own"),
    ]


@pytest.mark.parametrize(
    ("threshold_ms", "good"),
    [
        (1.048575, 0),  # 1 ns below 2^20: bucket 1279 is no longer wholly within
        (1.048576, 3),  # exactly its upper edge
        (1.05999, 3),  # bucket 1280 ends at 2^(1281/64) ns = 1.059994 ms
        (1.06, 4),
        (1e6, 4),
    ],
)
def test_threshold_at_a_bucket_edge(client: Client, threshold_ms: float, good: int) -> None:
    assert 1.05999 < 2 ** (1281 / 64) / 1e6 < 1.06
    client.insert("windows", [window("server", "cart", "", "a", 0, 1.0, {FAST: 3, SLOW: 1})], column_names=COLUMNS)
    assert curve(client, "server", "cart", "", threshold_ms)[0][1] == pytest.approx(good / 0.1)


def test_callers_judge_a_server_pool(client: Client) -> None:
    rows = [
        # two instances, 6 and 2 in flight: 4 each; their own spans look fast
        window("server", "cart", "", "a", 0, 6.0, {FAST: 6}),
        window("server", "cart", "", "b", 0, 2.0, {FAST: 2}),
        # two callers, who waited: 3 of 8 within the threshold, 15/s an instance
        window("client", "frontend", "cart", "x", 0, 9.0, {FAST: 1, SLOW: 5}),
        window("client", "orders", "cart", "y", 0, 1.0, {FAST: 2}),
        # a call to somebody else
        window("client", "frontend", "orders", "x", 0, 1.0, {FAST: 7}),
        # a bucket with work and no completion at a caller: goodput 0, not missing
        window("server", "cart", "", "a", 1, 1.0, {FAST: 1}),
    ]
    client.insert("windows", rows, column_names=COLUMNS)
    assert curve(client, "server", "cart", "", 1.048576) == [
        (pytest.approx(1.0), pytest.approx(0), pytest.approx(0), 1, "caller"),
        (pytest.approx(4.0), pytest.approx(15), pytest.approx(40), 1, "caller"),
    ]


def test_an_instance_that_only_completed_on_the_border_is_not_counted(client: Client) -> None:
    """Its span ends exactly where the bucket starts: it completes in the bucket, and was never in flight in it."""
    rows = [
        window("server", "cart", "", "a", 0, 3.0, {FAST: 4}),
        window("server", "cart", "", "b", 0, 0.0, {FAST: 1}),
        window("server", "cart", "", "c", 0, 0.0, {}),  # emptied by a correction
        window("server", "cart", "", "b", 1, 0.0, {FAST: 1}),  # a bucket in which nothing was in flight
    ]
    client.insert("windows", rows, column_names=COLUMNS)
    assert curve(client, "server", "cart", "", 1.048576) == [
        (pytest.approx(3.0), pytest.approx(50), pytest.approx(50), 1, "own")
    ]


def test_a_consumer_pool_is_judged_by_its_own_spans(client: Client) -> None:
    rows = [
        window("consumer", "mail", "", "a", 0, 14.0, {FAST: 2, SLOW: 1}),
        window("server", "mail", "", "a", 0, 3.0, {FAST: 7}),
        window("client", "web", "mail", "w", 0, 3.0, {FAST: 8}),
    ]
    client.insert("windows", rows, column_names=COLUMNS)
    assert curve(client, "consumer", "mail", "", 1.048576) == [
        (pytest.approx(14.0), pytest.approx(20), pytest.approx(30), 1, "own")
    ]
    assert curve(client, "server", "mail", "", 1.048576) == [
        (pytest.approx(3.0), pytest.approx(80), pytest.approx(80), 1, "caller")
    ]


def test_server_spans_judge_a_client_pool(client: Client) -> None:
    rows = [
        window("client", "catalogue", "catalogue-db", "a", 0, 3.0, {FAST: 5}),
        window("client", "catalogue", "cache", "a", 0, 8.0, {FAST: 9}),
        window("server", "catalogue", "", "a", 0, 5.0, {FAST: 2, SLOW: 2}),
    ]
    client.insert("windows", rows, column_names=COLUMNS)
    assert curve(client, "client", "catalogue", "catalogue-db", 1.048576) == [
        (pytest.approx(3.0), pytest.approx(20), pytest.approx(40), 1, "caller")
    ]


def test_relative_curve_sees_only_the_newest_seconds(client: Client) -> None:
    now = client.query("SELECT now64(3)").result_rows[0][0].replace(tzinfo=UTC)
    rows = [window("server", "cart", "", "a", 0, 1.0, {FAST: 1}), window("server", "cart", "", "a", 0, 5.0, {FAST: 1})]
    rows[0][4], rows[1][4] = now - timedelta(seconds=5), now - timedelta(seconds=90)
    client.insert("windows", rows, column_names=COLUMNS)
    query = (
        "SELECT concurrency FROM v_goodput_curve(service='cart', side='server', peer='', threshold_ms=150, seconds={})"
    )
    assert [row[0] for row in client.query(query.format(60)).result_rows] == [1.0]
    assert [row[0] for row in client.query(query.format(120)).result_rows] == [1.0, 5.0]


def test_unknown_side_is_an_error(client: Client) -> None:
    with pytest.raises(Exception, match="sever"):
        curve(client, "sever", "cart", "", 1.0)


def test_within_follows_the_exact_table_of_indices(client: Client) -> None:
    """A whole number of ns lies on a bucket's upper edge only if it is a power of two: then, and only then, the bucket
    that holds the threshold itself is wholly within it."""
    with INDICES.open() as file:
        table = [(int(row["duration_ns"]), int(row["index"])) for row in csv.DictReader(file)]
    table = [(ns, index) for ns, index in table if ns >= 1]
    cases = ", ".join(f"({ns}, {index})" for ns, index in table)
    got = client.query(
        "SELECT c.1, latency_within(map(toInt16(c.2), 1), c.1 / 1e6), "
        "latency_within(map(toInt16(c.2 - 1), 1), c.1 / 1e6) "
        f"FROM (SELECT arrayJoin([{cases}]) AS c)"
    ).result_rows
    assert [(row[0], row[1]) for row in got] == [(ns, int(ns & (ns - 1) == 0)) for ns, _ in table]
    assert {row[2] for row in got} == {1}


def test_quantile_is_the_middle_of_its_bucket(client: Client) -> None:
    got = client.query(
        "WITH map(640::Int16, 98::UInt32, 1280, 1, 704, 1) AS h SELECT latency_quantile_ms(h, 0.5), "
        "latency_quantile_ms(h, 0.98), latency_quantile_ms(h, 0.99), latency_quantile_ms(h, 1), "
        "latency_quantile_ms(CAST(map(), 'Map(Int16, UInt32)'), 0.5)"
    ).result_rows[0]
    # ranks 50 and 98 lie in bucket 640, rank 99 in 704, rank 100 in 1280
    expected = [2 ** ((index + 0.5) / 64) / 1e6 for index in (640, 640, 704, 1280)]
    assert got == (*(pytest.approx(value) for value in expected), None)
