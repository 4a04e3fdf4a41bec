"""Cells hold the newest version of each row of the window."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.clickhouse.native import Arrays, NativeError
from sluice.pools.windows.bucket_ring import FEWEST, BucketRing
from sluice.pools.windows.new_rows import NewRows, new_rows_of

OWN, JUDGE = 0, 1


def new_rows(*rows: tuple[int, int, int, int, int, int, int, int], newest: int = 1) -> NewRows:
    """(pool, judges, source, bucket, busy ns, completions, good, version), those of one source together."""
    sources = list(dict.fromkeys(row[:3] for row in rows))
    columns = np.array([row[3:] for row in rows], dtype=np.int64).reshape(-1, 5).T
    pool, judges, source = np.array(sources, dtype=np.int64).reshape(-1, 3).T
    counts = np.array([sum(row[:3] == one for row in rows) for one in sources])
    at, busy, done, good, version = columns
    return NewRows(
        pool,
        judges,
        source.astype(np.uint64),
        counts,
        newest,
        at,
        busy,
        done.astype(np.uint32),
        np.zeros(len(at), dtype=np.uint32),
        good.astype(np.uint32),
        version.astype(np.uint64),
    )


def read(cells: BucketRing, pool: int, until: int) -> list[tuple[int, ...]]:
    """(start, busy, done, good, instances, judged, judged good), buckets of 100 ms."""
    rows = cells.rows(pool, until, 100)
    columns = (
        *(rows.bucket_start_ms, rows.busy_ns, rows.own_completions, rows.own_good),
        *(rows.instances, rows.judge_completions, rows.judge_good),
    )
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_sums_over_instances_and_judges() -> None:
    """Two instances with 3 and 5; one that only completed is not counted; a bucket without anything has no row."""
    cells = BucketRing(4)
    cells.advance(10)
    cells.put(
        new_rows(
            (0, OWN, 1, 10, 3, 4, 2, 1),
            (0, OWN, 1, 12, 1, 0, 0, 1),
            (0, OWN, 2, 10, 5, 1, 1, 1),
            (0, OWN, 3, 10, 0, 1, 0, 1),
            (0, JUDGE, 1, 10, 7, 6, 5, 1),
            (1, JUDGE, 1, 11, 7, 2, 2, 1),
        )
    )
    assert read(cells, 0, 13) == [(1000, 8, 6, 3, 2, 6, 5), (1200, 1, 0, 0, 1, 0, 0)]
    assert cells.rows(0, 13, 100).judge_busy_ns.tolist() == [7, 0]
    assert read(cells, 1, 13) == [(1100, 0, 0, 0, 0, 2, 2)]
    assert read(cells, 2, 13) == []


def test_the_largest_version_stays_whatever_the_order() -> None:
    cells = BucketRing(4)
    cells.advance(10)
    cells.put(new_rows((0, OWN, 1, 10, 2, 2, 2, 2), (0, OWN, 1, 11, 5, 1, 1, 1)))
    cells.put(new_rows((0, OWN, 1, 10, 1, 1, 1, 1), (0, OWN, 1, 11, 6, 3, 2, 3)))
    assert read(cells, 0, 13) == [(1000, 2, 2, 2, 1, 0, 0), (1100, 6, 3, 2, 1, 0, 0)]


def test_of_versions_beyond_the_largest_the_last_one_counts() -> None:
    cells = BucketRing(4)
    for done, version in ((1, 2**33), (2, 2**32 + 1), (3, 7)):
        cells.put(new_rows((0, OWN, 1, 0, 1, done, 0, version)))
    assert read(cells, 0, 1) == [(0, 1, 2, 0, 1, 0, 0)]


def test_a_row_that_a_correction_emptied_is_gone() -> None:
    cells = BucketRing(4)
    cells.advance(10)
    cells.put(new_rows((0, OWN, 1, 10, 2, 2, 2, 2)))
    cells.put(new_rows((0, OWN, 1, 10, 0, 0, 0, 4)))
    assert read(cells, 0, 13) == []


def test_what_leaves_the_window_leaves_no_trace_in_the_columns_used_again() -> None:
    """Width 4: bucket 14 lies where 10 lay."""
    cells = BucketRing(4)
    cells.advance(10)
    cells.put(new_rows((0, OWN, 1, 10, 2, 2, 2, 9), (0, OWN, 1, 13, 3, 3, 3, 9)))
    cells.advance(12)
    assert read(cells, 0, 16) == [(1300, 3, 3, 3, 1, 0, 0)]
    cells.put(new_rows((0, OWN, 1, 14, 1, 1, 1, 1)))
    assert read(cells, 0, 16) == [(1300, 3, 3, 3, 1, 0, 0), (1400, 1, 1, 1, 1, 0, 0)]
    cells.advance(1_000)
    assert (read(cells, 0, 1_004), len(cells)) == ([], 0)


def test_sources_that_ended_make_room_for_others() -> None:
    cells = BucketRing(2)
    for at in range(5 * FEWEST):
        cells.advance(at)
        cells.put(new_rows(*((0, OWN, 10 * at + i, at, 1, 1, 1, 1) for i in range(3))))
        assert read(cells, 0, at + 1)[-1] == (100 * at, 3, 3, 3, 3, 0, 0)
    assert len(cells) == 3
    assert cells.nbytes == 20 * FEWEST * 2


def test_what_nobody_judges_takes_no_room_until_somebody_does() -> None:
    cells = BucketRing(2)
    cells.put(new_rows((0, OWN, 1, 1, 1, 5, 0, 1)))
    assert (cells.nbytes, read(cells, 0, 2)) == (16 * FEWEST * 2, [(100, 1, 5, 0, 1, 0, 0)])
    cells.put(new_rows((0, OWN, 1, 1, 1, 5, 3, 2)))
    assert (cells.nbytes, read(cells, 0, 2)) == (20 * FEWEST * 2, [(100, 1, 5, 3, 1, 0, 0)])
    # What is counted anew by a shorter threshold may be 0 again.
    cells.put(new_rows((0, OWN, 1, 1, 1, 5, 0, 3)))
    assert read(cells, 0, 2) == [(100, 1, 5, 0, 1, 0, 0)]


def test_a_table_that_grows_keeps_what_it_has() -> None:
    cells = BucketRing(2)
    for first in range(0, 3 * FEWEST, 10):
        cells.put(new_rows(*((0, OWN, first + i, 1, 1, 1, 1, 1) for i in range(10))))
    assert read(cells, 0, 2) == [(100, 200, 200, 200, 200, 0, 0)]


def test_a_forgotten_pool_takes_nothing_from_others() -> None:
    cells = BucketRing(2)
    cells.put(new_rows((0, OWN, 1, 1, 2, 2, 2, 5), (1, OWN, 1, 1, 3, 3, 3, 5)))
    cells.forget([0])
    assert (read(cells, 0, 2), read(cells, 1, 2)) == ([], [(100, 3, 3, 3, 1, 0, 0)])
    cells.put(new_rows((0, OWN, 1, 1, 1, 1, 1, 4)))
    assert read(cells, 0, 2) == [(100, 1, 1, 1, 1, 0, 0)]


def test_columns_of_an_answer_become_news() -> None:
    """Two sources, with two rows and one; buckets count from 100."""
    lengths = np.array([2, 1])
    flat = [np.array(column) for column in ([0, 4], [0, 1], [7, 8], [20, 21])]
    arrays = [
        Arrays(lengths, np.array(column))
        for column in ([1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 3, 0], [1, 1, 1], [2, 2, 2])
    ]
    found = new_rows_of([*flat, *arrays], 100)
    assert (found.at.tolist(), found.newest, len(found)) == ([101, 102, 103], 21, 3)
    assert found.errors.tolist() == [0, 3, 0]
    assert (len(new_rows_of([], 100)), new_rows_of([], 100).newest) == (0, -1)
    with pytest.raises(NativeError):
        new_rows_of([*flat, *arrays[:5]], 100)
    with pytest.raises(NativeError):
        new_rows_of([*flat, *arrays[:5], Arrays(np.array([1, 2]), np.array([1, 2, 3]))], 100)


def test_what_is_known_of_rows() -> None:
    cells = BucketRing(4)
    cells.advance(10)
    cells.put(new_rows((0, OWN, 1, 10, 2, 2, 2, 2), (0, OWN, 1, 11, 5, 1, 1, 2)))
    asked = new_rows((0, OWN, 1, 11, 9, 1, 1, 3), (0, OWN, 1, 12, 9, 1, 1, 3), (0, OWN, 2, 11, 9, 1, 1, 3))
    assert cells.busy_ns(asked).tolist() == [5, 0, 0]


def test_the_own_rows_of_each_source_and_of_one() -> None:
    cells = BucketRing(4)
    cells.advance(10)
    cells.put(new_rows((0, OWN, 1, 10, 2, 4, 2, 2), (0, OWN, 2, 12, 5, 1, 1, 2), (0, JUDGE, 1, 11, 7, 7, 7, 2)))
    at, busy_ns, completions, _ = cells.own(0, 13)
    assert (at.tolist(), busy_ns.tolist(), completions.tolist()) == (
        [10, 11, 12],
        [[2, 0, 0], [0, 0, 5]],
        [[4, 0, 0], [0, 0, 1]],
    )
    one = cells.own_source(0, 2, 13)
    assert one is not None
    assert [column.tolist() for column in one] == [[10, 11, 12], [0, 0, 5], [0, 0, 1], [0, 0, 0]]
    assert cells.own_source(0, 3, 13) is None
    assert cells.own(5, 13)[1].shape == (0, 3)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.lists(
                st.tuples(*map(st.integers, (0, 0, 0, 0, 0), (1, 1, 7, 1, 3))),
                max_size=6,
                unique_by=lambda row: row[:3],
            ),
        ),
        max_size=12,
    )
)
def test_the_newest_bucket_with_data_is_known_whatever_is_emptied(
    steps: list[tuple[int, list[tuple[int, int, int, int, int]]]],
) -> None:
    """(how far the window moves on, rows of (pool, judges, column, done, version)), with one source for each pool."""
    cells, first = BucketRing(8), 0
    for forward, rows in steps:
        first += forward
        cells.advance(first)
        each = sorted(
            (pool, judges, 1, first + column, 0, done, 0, version) for pool, judges, column, done, version in rows
        )
        if each:
            cells.put(new_rows(*each))
        found = cells.newest(2).tolist()
        for pool in range(2):
            _, _, completions, _ = cells.own(pool, first + 8)
            done = np.flatnonzero(completions.any(axis=0)) if len(completions) else []
            assert found[pool] == (first + done[-1] if len(done) else -1)
