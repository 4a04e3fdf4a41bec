"""From rows to samples of each pool, with rows worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.clocks.offsets import Instance
from sluice.pools.windows import query
from sluice.pools.windows.newest import newest
from sluice.pools.windows.query import WindowQuery
from sluice.pools.windows.rows import WindowRows, complete_before, measure

MS = 10**6
BUSY = 100 * MS  # one in flight for all of a bucket


def rows(*each: tuple[int, float, int, int, int, int]) -> WindowRows:
    """(bucket start s/10, in flight, own done, own good, judged, judged good); one instance, 100 ms."""
    columns = [
        [100 * tenth, round(in_flight * 100 * MS), done, good, int(in_flight > 0), judged, judged_good, 0]
        for tenth, in_flight, done, good, judged, judged_good in each
    ]
    return WindowRows(*np.array(columns, dtype=np.int64).reshape(-1, 8).T)


def test_callers_that_arrive_late_cut_the_window() -> None:
    """Own rows to 60.0 s, the callers' to 54.0 s; with 2 s to settle, buckets before 52.0 s are whole."""
    late = rows(*((tenth, 4.0, 8, 8, 6 if tenth <= 540 else 0, 6 if tenth <= 540 else 0) for tenth in range(601)))
    assert complete_before(late, 70_000, 2_000) == 52_000
    found = measure(late, 0, 52_000, 100)
    assert found is not None
    assert found.end_ms == 52_000
    assert set(found.samples.goodput_per_s.tolist()) == {60.0}  # 6 good in 0.1 s, and no 0 of a bucket not yet judged
    assert found.samples.caller_judged


def test_own_spans_that_arrive_late_cut_it_too() -> None:
    """Callers to 60.0 s, the pool itself to 57.0 s."""
    late = rows(*((tenth, 4.0 if tenth <= 570 else 0.0, 1 if tenth <= 570 else 0, 0, 6, 6) for tenth in range(601)))
    assert complete_before(late, 70_000, 2_000) == 55_000


def test_without_judges_the_pools_own_newest_bucket_decides() -> None:
    assert complete_before(rows((600, 1.0, 1, 1, 0, 0), (590, 1.0, 1, 1, 0, 0)), 70_000, 2_000) == 58_000


def test_a_clock_that_is_ahead_makes_no_bucket_old() -> None:
    assert complete_before(rows((900, 1.0, 1, 1, 1, 1)), 60_000, 2_000) == 58_000


def test_a_pool_that_only_its_judges_saw_has_nothing() -> None:
    assert complete_before(rows((600, 0.0, 0, 0, 5, 5)), 70_000, 2_000) is None


def raw(*given_rows: tuple[int, ...]) -> WindowRows:
    """Columns as `WindowRows` has them, without callers in flight."""
    given = np.asarray(given_rows, dtype=np.int64).reshape(-1, 7)
    return WindowRows(*given.T, np.zeros(len(given), dtype=np.int64))


def test_each_bucket_with_something_in_flight_counts_per_instance() -> None:
    judged = raw(
        (200, 2 * BUSY, 6, 6, 2, 8, 6),
        (100, 1 * BUSY, 5, 5, 1, 5, 4),
        (300, 9 * BUSY, 5, 5, 1, 5, 4),  # behind the window
    )
    found = measure(judged, 100, 300, 100)
    assert found is not None
    assert found.bucket_start_ms.tolist() == [200, 100]
    assert found.samples.concurrency.tolist() == [1, 1]  # the first of two instances
    assert found.samples.goodput_per_s.tolist() == [30, 40]  # judged by callers
    assert (found.samples.instances, found.samples.caller_judged) == (2, True)
    unjudged = measure(raw((100, 3 * BUSY, 4, 2, 1, 0, 0), (200, 0, 4, 2, 0, 0, 0)), 100, 300, 100)
    assert unjudged is not None
    assert unjudged.samples.goodput_per_s.tolist() == [20]  # not of the bucket with nothing in flight
    assert not unjudged.samples.caller_judged
    assert measure(raw(), 100, 300, 100) is None


def test_each_pool_has_its_own_newest_bucket_and_length() -> None:
    """Cart's rows end at 60.0 s, the database's at 50.0 s: whole before 58.0 and 48.0 s, the latter in 500 ms."""
    given = Config.model_validate(
        {
            "pools": [
                {"service": "cart", "side": "server", "threshold": "100ms"},
                {"service": "cart", "side": "client", "peer": "db", "threshold": "100ms", "bucket": "500ms"},
                {"service": "orders", "side": "server", "threshold": "100ms"},
            ],
            "settle": "2s",
            "window": "10s",
        }
    )
    until_60, until_50 = (raw(*((100 * k, 2 * BUSY, 3, 3, 1, 0, 0) for k in range(count))) for count in (601, 501))
    cart, database, orders = (
        newest(of, pool, given, complete_before(of, 70_000, 2_000), None)
        for of, pool in zip((until_60, until_50, raw()), given.pools, strict=True)
    )
    assert cart is not None
    assert database is not None
    assert (cart.start_ms, cart.end_ms, cart.bucket_ms) == (48_000, 58_000, 100)
    assert (database.start_ms, database.end_ms, database.bucket_ms) == (38_000, 48_000, 500)
    assert set(database.samples.concurrency.tolist()) == {2.0}
    assert orders is None


def test_a_window_can_be_cut_at_its_beginning() -> None:
    whole = measure(raw((100, 5, 1, 1, 1, 0, 0), (200, 7, 0, 0, 1, 0, 0)), 0, 300, 100)
    assert whole is not None
    assert whole.since(100) is whole
    assert whole.since(101) is None  # nothing completed in what is left


def test_what_is_cut_keeps_the_length_of_its_buckets_and_why() -> None:
    whole = measure(raw((0, 5, 1, 1, 1, 0, 0), (200, 7, 1, 1, 1, 0, 0)), 0, 400, 200)
    assert whole is not None
    why = (Reason("BUCKET_AUTO", "200 ms of 100, 200, 500"),)
    newer = replace(whole, reasons=why).since(200)
    assert newer is not None
    assert (newer.bucket_start_ms.tolist(), newer.bucket_ms, newer.reasons) == ([200], 200, why)


def test_each_pool_has_its_own_part_and_that_of_its_judges_but_nobody_judges_consumers() -> None:
    given = [
        (7, PoolKey("cart", "server", "")),
        (8, PoolKey("cart", "client", "db")),
        (9, PoolKey("cart", "consumer", "")),
    ]
    table = query.keys([(pool, key, 63) for pool, key in given])
    assert table.rows == [
        (7, 63, 0, "server", "cart", ""),
        (7, 63, 1, "client", "", "cart"),
        (8, 63, 0, "client", "cart", "db"),
        (8, 63, 1, "server", "cart", ""),
        (9, 63, 0, "consumer", "cart", ""),
    ]


def test_a_span_is_asked_for_in_milliseconds() -> None:
    span = WindowQuery(first=10, until=30, bucket_ms=100).parameters(pools=2, known_until=25, known_insert=4)
    times = {"from_ms": 1000, "to_ms": 3000, "before_ms": 2500, "news_ms": 2500, "bucket_ms": 100}
    right = {"first_ms": 1000, "until_ms": 3000, "off": False, "clocks": [0], "ahead": [0]}
    assert span == times | right | {"first": 10, "seen": 4, "many": False}


@pytest.mark.parametrize(
    ("asked", "of", "many"), [(999, 999, False), (1_000, 1_000, True), (2_000, 10_000, False), (5_000, 10_000, True)]
)
def test_rows_of_others_are_left_out_before_they_are_joined_unless_most_are_asked_for(
    asked: int, of: int, many: bool
) -> None:
    span = WindowQuery(first=10, until=30, bucket_ms=100, pools=of).parameters(asked, 25, 4)
    assert span["many"] is many


def test_where_clocks_are_off_buckets_from_the_most_behind_to_the_most_ahead_are_asked_for() -> None:
    ahead = {Instance("cart", "a"): 1_000, Instance("cart", "b"): -300}
    span = WindowQuery(first=10, until=30, bucket_ms=100, ahead_ms=ahead).parameters(2, 25, 4)
    assert (span["from_ms"], span["to_ms"]) == (700, 4_000)
    assert (span["first_ms"], span["until_ms"], span["before_ms"]) == (1_000, 3_000, 2_500)
    assert (span["off"], span["ahead"]) == (True, [0, 1_000, -300])
