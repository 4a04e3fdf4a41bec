"""Upserts that collide, repeat and arrive in any order end in one row: the one with the highest version."""

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schema.flink import written_tables
from schema.tables import LENGTHS, Table
from sluice_kit.servers.rows import insert_shop, now
from sluice_kit.waiting import eventually

HOUR = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=2)
DAY = HOUR.replace(hour=0)
#: By type: two values that must never be merged with one another. Those of Enum8 are the names in it.
TWO = {
    "Bool": (True, False),
    "String": ("", "a > b"),
    "LowCardinality(String)": ("", "cart"),
    "DateTime('UTC')": (HOUR, HOUR + timedelta(seconds=10)),
    "DateTime64(3, 'UTC')": (HOUR, HOUR + timedelta(milliseconds=100)),
    **dict.fromkeys(("UInt8", "UInt16", "Int32", "Int64"), (10, 60)),
}
#: Where rows go by a time that is in no key: else they would be too old to stay.
BESIDE = {"offset_gaps": {"received": HOUR}}


def of(table: Table) -> tuple[dict[str, tuple[Any, Any]], str]:
    """The columns of ORDER BY with two values each, and a column of numbers: the first of the widest."""
    key = {
        column.name: TWO.get(column.type) or tuple(re.findall(r"'(\w+)'", column.type)[:2])
        for column in table.columns
        if column.name in (*table.key, *LENGTHS)
    }
    numbers = [column for column in table.values if re.fullmatch(r"U?Int\d+", column.type)]
    return key, max(numbers, key=lambda column: int(column.type.partition("Int")[2])).name


# What jobs write of tables.
TABLES = {name: of(table) for name, table in written_tables().items()}


def insert(client: Client, table: str, rows: list[list[Any]]) -> None:
    """Each row as an insert of its own: a part of its own, merged or not."""
    key, value = TABLES[table]
    beside = BESIDE.get(table, {})
    for row in rows:
        client.insert(table, [[*row, *beside.values()]], column_names=[*key, value, "version", *beside])


def stored(client: Client, table: str) -> list[tuple[Any, ...]]:
    """What people see before merging, after checking that it is what stands on disk after merging."""
    key, value = TABLES[table]
    query = f"SELECT {', '.join(key)}, {value}, version FROM {table}"
    before = sorted(map(tuple, client.query(f"{query} FINAL").result_rows))
    client.command(f"OPTIMIZE TABLE {table} FINAL")
    assert sorted(map(tuple, client.query(query).result_rows)) == before
    return before


@pytest.mark.parametrize("table", TABLES)
def test_keys_that_differ_in_one_column_stay_apart(client: Client, table: str) -> None:
    key, _ = TABLES[table]
    base = [first for first, _ in key.values()]
    rows = [[*base, 1, 1]]
    for nth, (_, other) in enumerate(key.values()):
        rows.append([*base[:nth], other, *base[nth + 1 :], 10 + nth, 1])
    insert(client, table, rows)
    assert [row[-2] for row in sorted(stored(client, table), key=lambda row: row[-2])] == [1, *range(10, 10 + len(key))]


@pytest.mark.parametrize("table", TABLES)
def test_a_lower_version_never_replaces_a_higher(client: Client, table: str) -> None:
    key, _ = TABLES[table]
    base = [first for first, _ in key.values()]
    insert(client, table, [[*base, 70, 7], [*base, 90, 9], [*base, 30, 3], [*base, 90, 9], [*base, 80, 8]])
    assert [row[-2:] for row in stored(client, table)] == [(90, 9)]


@pytest.mark.parametrize("table", TABLES)
def test_replayed_after_merging(client: Client, table: str) -> None:
    key, _ = TABLES[table]
    base = [first for first, _ in key.values()]
    insert(client, table, [[*base, 10 * version, version] for version in (1, 2, 3)])
    assert [row[-2:] for row in stored(client, table)] == [(30, 3)]
    insert(client, table, [[*base, 10 * version, version] for version in (1, 2, 3, 4)])
    assert [row[-2:] for row in stored(client, table)] == [(40, 4)]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(upserts=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6)), min_size=1, max_size=12))
def test_any_order_of_any_upserts(client: Client, upserts: list[tuple[int, int]]) -> None:
    """(bucket, version) in any order, repeated or not: each bucket holds its highest version."""
    client.command("TRUNCATE TABLE windows")
    base = ["server", "cart", "", "a"]
    rows = [[*base, DAY + timedelta(hours=8 * nth), 100, 10 * version, version] for nth, version in upserts]
    insert(client, "windows", rows)
    expected = {DAY + timedelta(hours=8 * nth): max(v for n, v in upserts if n == nth) for nth, _ in upserts}
    assert {row[4].replace(tzinfo=UTC): row[-1] for row in stored(client, "windows")} == expected
    assert client.query("SELECT count() FROM v_windows").result_rows[0][0] == len(expected)


@pytest.mark.parametrize(
    ("table", "view", "count"),
    [("recommendations", "v_recommendation_history", "periods"), ("actuations", "v_actuation_history", "1")],
)
def test_a_retried_write_counts_once(client: Client, table: str, view: str, count: str) -> None:
    """Written again alone, and again in a larger batch, before and after merging."""
    insert_shop(client, now(client))

    def counted() -> Any:
        return client.query(f"SELECT sum({count}) FROM {view}").result_rows

    once = counted()
    assert once[0][0] > 1
    for limit in (1, 3, 100):
        client.command(f"INSERT INTO {table} SELECT * FROM {table} LIMIT {limit} SETTINGS async_insert = 0")
        assert counted() == once
    stored_once = client.query(f"SELECT count() FROM {table} FINAL").result_rows
    client.command(f"OPTIMIZE TABLE {table} FINAL")
    assert counted() == once
    assert client.query(f"SELECT count() FROM {table}").result_rows == stored_once


def test_counts_that_are_below_0_for_a_moment(client: Client) -> None:
    """Five spans are judged anew before they have been counted: the sum over outcomes is right at every moment."""
    names = ["job", "outcome", "service", "received", "messages", "spans", "version"]

    def put(outcome: str, spans: int, messages: int, version: int) -> None:
        client.insert("ingest_counts", [["call_graph", outcome, "cart", HOUR, messages, spans, version]], names)

    put("accepted", -5, 0, 1)
    put("malformed_message", 0, -1, 1)
    put("accepted_late", 5, 0, 1)
    assert client.query("SELECT sum(spans), sum(messages) FROM ingest_counts FINAL").result_rows == [(0, -1)]
    put("accepted", 3, 0, 2)
    put("malformed_message", 0, 0, 2)
    client.command("OPTIMIZE TABLE ingest_counts FINAL")
    query = "SELECT outcome, spans, messages FROM ingest_counts ORDER BY outcome"
    assert client.query(query).result_rows == [
        ("accepted", 3, 0),
        ("accepted_late", 5, 0),
        ("malformed_message", 0, 0),
    ]


def test_reports_of_one_moment_stay_apart(client: Client) -> None:
    """Of two targets, and of two actuators."""
    rows = [
        ["cart", "server", "", HOUR, target, actuator, "APPLIED"] for target in ("a", "b") for actuator in ("x", "y")
    ]
    client.insert(
        "actuations", rows, column_names=["service", "side", "peer", "at", "target_name", "actuator", "outcome"]
    )
    client.command("OPTIMIZE TABLE actuations FINAL")
    assert client.query("SELECT count() FROM v_actuation_history").result_rows == [(4,)]


def test_a_report_is_one_row_under_its_id(client: Client) -> None:
    """Told again it is one, also without a time of its own and in any order; another caller's id is another's."""
    names = ["service", "side", "peer", "at", "target_name", "actuator", "outcome", "by", "request_id", "received"]
    last = HOUR + timedelta(days=40)
    for received, by, request_id in (
        (last, "ann", "1"),
        (HOUR, "ann", "1"),
        (HOUR, "bob", "1"),
        (HOUR, "ann", "2"),
    ):
        row = ["cart", "server", "", received, "t", "a", "APPLIED", by, request_id, received]
        client.insert("actuations", [row], names)
    query = "SELECT by, request_id, received FROM v_actuation_history ORDER BY by, request_id"
    expected = [("ann", "1", last), ("ann", "2", HOUR), ("bob", "1", HOUR)]
    assert [(by, name, at.replace(tzinfo=UTC)) for by, name, at in client.query(query).result_rows] == expected


def test_an_extreme_histogram_survives(client: Client) -> None:
    """Indices from -1 (0 ns) to 4031 (2^63 ns), and counts of 32 bits."""
    latency = {-1: 1, 0: 2**32 - 1, 4031: 7}
    client.insert(
        "windows",
        [["server", "cart", "", "a", HOUR, 100, 2**63, 8, 0, latency, 1]],
        column_names=[*TABLES["windows"][0], "busy_ns", "completions", "errors", "latency", "version"],
    )
    client.command("OPTIMIZE TABLE windows FINAL")
    assert client.query("SELECT latency, busy_ns FROM v_windows").result_rows == [(latency, 2**63)]


def test_a_window_whose_spans_moved_away_is_hidden_and_one_that_is_only_busy_is_not(client: Client) -> None:
    columns = ["side", "service", "peer", "instance", "bucket", "bucket_ms", "busy_ns", "completions", "version"]
    for row in (
        ["client", "moved", "unknown", "a", HOUR, 100, 5, 1, 2],
        ["client", "moved", "unknown", "a", HOUR, 100, 0, 0, 4],
        ["client", "moved", "cart", "a", HOUR, 100, 5, 0, 2],
        ["client", "moved", "orders", "a", HOUR, 100, 0, 1, 2],
    ):
        client.insert("windows", [row], column_names=columns)
    peers = client.query("SELECT peer FROM v_windows WHERE service = 'moved' ORDER BY peer").result_rows
    assert [peer for (peer,) in peers] == ["cart", "orders"]


def test_a_part_is_not_written_anew_for_each_tiny_insert(client: Client) -> None:
    """It was: 12 inserts were merged with a part of 1 MB one by one, up to level 9. They are taken five at a time.
    Inserts that come faster are merged with one another first."""
    columns = "side, service, instance, bucket, bucket_ms, busy_ns, completions, latency, version"
    bucket = f"toDateTime64('{HOUR:%F %T}', 3, 'UTC') + toIntervalMillisecond(100 * intDiv(number, 28))"
    latency = "map(100, rand(2) % 1000, 120, rand(3) % 1000)"
    rows = f"SELECT 'server', 'cart', toString(number % 28), {bucket}, 100, rand(), rand(1) % 1000, {latency}, rand64()"
    for count in (60_000, *[60] * 12):
        client.command(f"INSERT INTO windows ({columns}) {rows} FROM numbers({count})")
        time.sleep(0.5)
    parts = "system.parts WHERE active AND table = 'windows' AND database = currentDatabase()"
    levels = f"SELECT max(level), count() FROM {parts}"
    assert eventually(lambda: 1 <= client.query(levels).result_rows[0][1] <= 5, True)
    assert 1 <= client.query(levels).result_rows[0][0] <= 4
