"""Rollups are the sums of the fine windows, whatever was upserted, corrected or merged, and whenever filled."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice_kit.servers.rollups import ROLLUPS, fill_rollups

MINUTE = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(hours=2)
KEY = ["side", "service", "peer", "instance", "bucket", "bucket_ms"]
COLUMNS = [*KEY, "busy_ns", "completions", "errors", "latency", "version"]
CART = ("server", "cart", "", "a")
MEASURES = "side, service, peer, instance, bucket_ms, sum(busy_ns), sum(completions), sum(errors), sumMap(latency)"


def window(key: tuple[str, ...], ms: int, busy_ns: int, latency: dict[int, int], version: int, errors: int = 0) -> Any:
    """The 100 ms from `ms` after MINUTE."""
    bucket = MINUTE + timedelta(milliseconds=ms)
    return [*key, bucket, 100, busy_ns, sum(latency.values()), errors, latency, version]


def insert(client: Client, rows: list[Any], **more: Any) -> None:
    names = [*COLUMNS, *more]
    client.insert("windows", [[*row, *more.values()] for row in rows], column_names=names)


def sums(client: Client, view: str, time: str, seconds: int) -> list[tuple[Any, ...]]:
    """What each soft resource did in each interval, by a view."""
    query = (
        f"SELECT toStartOfInterval({time}, INTERVAL {seconds} SECOND) AS at, {MEASURES} FROM {view} "
        "GROUP BY at, side, service, peer, instance, bucket_ms ORDER BY ALL"
    )
    return [tuple(row) for row in client.query(query).result_rows]


def check(client: Client) -> None:
    """Every rollup equals the fine windows, interval by interval."""
    for name, seconds in zip(ROLLUPS, (1, 10, 60), strict=True):
        assert sums(client, f"v_{name}", "start", seconds) == sums(client, "v_windows", "bucket", seconds), name


def stored(client: Client, table: str) -> int:
    """Rows on disk, superseded ones among them."""
    return int(client.query(f"SELECT count() FROM {table}").result_rows[0][0])


def test_a_minute_of_hand_worked_windows(client: Client) -> None:
    busy = 100_000_000  # one in flight for 100 ms
    rows = [
        # Second 0: ten busy buckets, 1 in flight, but 3 in the last. Second 1: two buckets of 5. Second 12: one of 2.
        *[window(CART, 100 * nth, busy, {640: 2}, 2) for nth in range(9)],
        window(CART, 900, 3 * busy, {640: 1, 700: 1}, 2, errors=1),
        window(CART, 1000, 5 * busy, {}, 1),
        window(CART, 1900, 5 * busy, {700: 4}, 4, errors=2),
        window(CART, 12_000, 2 * busy, {}, 1),
        # Another instance, which only completed on a bucket's border.
        window(("server", "cart", "", "b"), 59_900, 0, {640: 1}, 1),
    ]
    insert(client, rows)
    fill_rollups(client)
    columns = "concurrency, lowest_concurrency, highest_concurrency, busy_buckets, completions, errors, latency"
    got = {
        name: client.query(
            f"SELECT instance, toUnixTimestamp(start) - {int(MINUTE.timestamp())}, {columns} "
            f"FROM v_{name} ORDER BY instance, start"
        ).result_rows
        for name in ROLLUPS
    }
    assert got["windows_1s"] == [
        ("a", 0, pytest.approx(1.2), 1.0, 3.0, 10, 20, 1, {640: 19, 700: 1}),
        ("a", 1, pytest.approx(1.0), 0.0, 5.0, 2, 4, 2, {700: 4}),
        ("a", 12, pytest.approx(0.2), 0.0, 2.0, 1, 0, 0, {}),
        ("b", 59, 0.0, 0.0, 0.0, 0, 1, 0, {640: 1}),
    ]
    assert got["windows_10s"] == [
        ("a", 0, pytest.approx(0.22), 0.0, 5.0, 12, 24, 3, {640: 19, 700: 5}),
        ("a", 10, pytest.approx(0.02), 0.0, 2.0, 1, 0, 0, {}),
        ("b", 50, 0.0, 0.0, 0.0, 0, 1, 0, {640: 1}),
    ]
    assert got["windows_1m"] == [
        ("a", 0, pytest.approx(2.4 / 60), 0.0, 5.0, 13, 24, 3, {640: 19, 700: 5}),
        ("b", 0, 0.0, 0.0, 0.0, 0, 1, 0, {640: 1}),
    ]


def test_the_lowest_of_ten_full_seconds_is_the_least_busy_window(client: Client) -> None:
    insert(client, [window(CART, 100 * nth, 1_000_000 * (7 + nth % 10), {}, 1) for nth in range(100)])
    fill_rollups(client)
    (row,) = client.query("SELECT lowest_concurrency, highest_concurrency FROM v_windows_10s").result_rows
    assert row == (pytest.approx(0.07), pytest.approx(0.16))


UPSERTS = st.lists(
    st.tuples(
        st.sampled_from(
            [CART, ("client", "cart", "cart-db", "a"), ("consumer", "cart", "", "a"), ("server", "cart", "", "b")]
        ),
        st.sampled_from([0, 100, 900, 1000, 9900, 10_000, 59_900, 60_000]),
        st.integers(1, 6),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(UPSERTS, min_size=1, max_size=3), merge=st.booleans())
def test_any_upserts_in_any_order(client: Client, batches: list[Any], merge: bool) -> None:
    """Repeated, late, lower and higher versions, with a refresh after each batch; merged or not."""
    for table in ("windows", *ROLLUPS):
        client.command(f"TRUNCATE TABLE {table}")
    for batch in batches:
        for key, ms, version in batch:  # a part of its own each
            insert(client, [window(key, ms, 10**6 * version, {640 + version: version}, version, errors=version // 2)])
        fill_rollups(client)
        check(client)
        if merge:
            for table in ("windows", *ROLLUPS):
                client.command(f"OPTIMIZE TABLE {table} FINAL")
            check(client)
    assert sums(client, "v_windows_1m", "start", 60)


def test_a_correction_is_taken_in_however_late(client: Client) -> None:
    """The first window was rolled up long before the newest; then it grows, and then it comes once more."""
    written = datetime.now(UTC)
    insert(client, [window(CART, 0, 500, {640: 1}, 1)], written=written - timedelta(hours=30))
    fill_rollups(client)
    insert(client, [window(CART, 3_600_000, 700, {640: 1}, 1)], written=written - timedelta(hours=1))
    fill_rollups(client)
    insert(client, [window(CART, 0, 900, {640: 2}, 2)], written=written)
    fill_rollups(client)
    check(client)
    before = [stored(client, name) for name in ROLLUPS]
    insert(client, [window(CART, 0, 500, {640: 1}, 1)])
    fill_rollups(client)
    check(client)
    assert [stored(client, name) for name in ROLLUPS] == before  # a superseded version is no news


def test_a_row_that_moved_leaves_nothing(client: Client) -> None:
    """A peer that was unknown becomes known: the old row stays, empty, with a higher version."""
    unknown, known = ("client", "cart", "unknown", "a"), ("client", "cart", "cart-db", "a")
    insert(client, [window(unknown, 0, 500, {640: 1}, 1), window(unknown, 100, 800, {640: 1}, 1)])
    fill_rollups(client)
    insert(client, [window(unknown, 0, 0, {}, 2), window(known, 0, 500, {640: 1}, 1)])
    fill_rollups(client)
    check(client)
    query = "SELECT peer, busy_ns, busy_buckets, min_busy_ns, completions FROM windows_1m FINAL ORDER BY peer"
    assert client.query(query).result_rows == [("cart-db", 500, 1, 500, 1), ("unknown", 800, 1, 800, 1)]
    insert(client, [window(unknown, 100, 0, {}, 2)])
    fill_rollups(client)
    check(client)
    for view in ("v_windows", *(f"v_{name}" for name in ROLLUPS)):
        assert client.query(f"SELECT DISTINCT peer FROM {view}").result_rows == [("cart-db",)], view


def test_buckets_of_another_length_stay_apart(client: Client) -> None:
    short = window(CART, 0, 300, {640: 1}, 1)
    short[5] = 50
    insert(client, [window(CART, 0, 500, {640: 1}, 1), short])
    fill_rollups(client)
    check(client)
    assert client.query("SELECT bucket_ms, busy_ns FROM v_windows_1m ORDER BY bucket_ms").result_rows == [
        (50, 300),
        (100, 500),
    ]


def test_what_stands_there_is_not_written_again(client: Client) -> None:
    insert(client, [window(CART, 1000 * nth, 500, {640: 1}, 1) for nth in range(30)])
    fill_rollups(client)
    assert [stored(client, name) for name in ROLLUPS] == [30, 3, 1]
    fill_rollups(client)
    assert [stored(client, name) for name in ROLLUPS] == [30, 3, 1]
    insert(client, [window(CART, 1000, 900, {640: 2}, 2)])
    fill_rollups(client)
    assert [stored(client, name) for name in ROLLUPS] == [31, 4, 2]


def test_what_a_kill_cut_off_is_filled(client: Client) -> None:
    """Rows are inserted by ascending `seen`: a refresh that was killed left out those with the highest."""
    start = datetime.now(UTC) - timedelta(hours=1)
    for nth in range(6):
        insert(client, [window(CART, 1000 * nth, 500, {640: 1}, 1)], written=start + timedelta(minutes=5 * nth))
    fill_rollups(client)
    check(client)
    for kept in (5, 1, 0):
        cut = (start + timedelta(minutes=5 * kept)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        client.command(
            f"ALTER TABLE windows_1s DELETE WHERE seen >= toDateTime64('{cut}', 3, 'UTC') SETTINGS mutations_sync = 2"
        )
        assert stored(client, "windows_1s") == kept
        fill_rollups(client)
        check(client)


@pytest.mark.parametrize("name", ROLLUPS)
def test_a_rollup_that_was_emptied_is_computed_anew(client: Client, name: str) -> None:
    insert(client, [window(CART, 1000 * nth, 500, {640: 1}, 1) for nth in range(3)])
    fill_rollups(client)
    client.command(f"TRUNCATE TABLE {name}")
    fill_rollups(client)
    check(client)
