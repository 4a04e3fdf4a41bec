"""Rows of many pools become each pool's own samples."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.collect import query
from sluice.collect.query import Request
from sluice.collect.rows import Measured, Rows, measure, measure_all
from sluice.config import PoolKey

BUSY = 100_000_000  # one in flight for all of a bucket


def rows(*given_rows: tuple[int, ...]) -> Rows:
    return Rows(*np.asarray(given_rows, dtype=np.int64).reshape(-1, 8).T)


def test_each_pool_gets_its_own_rows_in_any_order() -> None:
    mixed = rows(
        (2, 100, 3 * BUSY, 4, 2, 1, 0, 0),
        (0, 200, 2 * BUSY, 6, 6, 2, 8, 6),
        (0, 100, 1 * BUSY, 5, 5, 1, 5, 4),
        (0, 300, 9 * BUSY, 5, 5, 1, 5, 4),  # behind the window
        (2, 200, 0, 4, 2, 0, 0, 0),  # nothing in flight
    )
    first, second, third = measure_all(mixed, 3, from_ms=100, before_ms=300, bucket_ms=100)
    assert second is None
    assert first is not None
    assert third is not None
    order = np.argsort(first.bucket_start_ms)
    assert first.samples.concurrency[order].tolist() == [1, 1]  # the second of two instances
    assert first.samples.goodput_per_s[order].tolist() == [40, 30]  # judged by callers
    assert (first.samples.instances, first.samples.caller_judged) == (2, True)
    assert third.samples.goodput_per_s.tolist() == [20]
    assert not third.samples.caller_judged


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 3), st.integers(0, 2)), max_size=60))
def test_all_at_once_is_each_for_itself(drawn: list[tuple[int, int, int, int]]) -> None:
    mixed = rows(*((pool, 100 * b, busy, done, done, 1, 0, 0) for pool, b, busy, done in drawn))
    together = measure_all(mixed, 5, 200, 800, 100)
    for pool, found in enumerate(together):
        assert plain(found) == plain(measure(mixed, pool, 200, 800, 100))


def plain(found: Measured | None) -> object:
    if found is None:
        return None
    return sorted(zip(found.bucket_start_ms, found.samples.concurrency, found.samples.goodput_per_s, strict=True))


def test_a_window_can_be_cut_at_its_beginning() -> None:
    whole = measure(rows((0, 100, 5, 1, 1, 1, 0, 0), (0, 200, 7, 0, 0, 1, 0, 0)), 0, 0, 300, 100)
    assert whole is not None
    assert whole.since(100) is whole
    assert whole.since(101) is None  # nothing completed in what is left


def test_a_result_holds_so_many_pools() -> None:
    assert query.pools_per_query(0, 64_000, 100) == 1406  # 900,000 / 640
    assert query.pools_per_query(0, 86_400_000, 10) == 1
    table = query.keys([Request(PoolKey("cart", "server", ""), 2)])
    assert table.rows == [(0, 63, 0, "server", "cart", ""), (0, 63, 1, "client", "", "cart")]
