"""From rows to samples, with rows worked out by hand."""

import numpy as np

from sluice.collect.rows import Rows, measure, whole_before

MS = 10**6


def rows(*each: tuple[int, int, float, int, int, int, int]) -> Rows:
    """(pool, bucket start s/10, in flight, own done, own good, judged, judged good); one instance, 100 ms."""
    columns = [
        [pool, 100 * tenth, round(in_flight * 100 * MS), done, good, int(in_flight > 0), judged, judged_good]
        for pool, tenth, in_flight, done, good, judged, judged_good in each
    ]
    return Rows(*np.array(columns, dtype=np.int64).reshape(-1, 8).T)


def test_callers_that_arrive_late_cut_the_window() -> None:
    """Own rows to 60.0 s, the callers' to 54.0 s; with 2 s to settle, buckets before 52.0 s are whole."""
    late = rows(*((0, tenth, 4.0, 8, 8, 6 if tenth <= 540 else 0, 6 if tenth <= 540 else 0) for tenth in range(601)))
    assert whole_before(late, 0, 70_000, 2_000) == 52_000
    found = measure(late, 0, 0, 52_000, 100)
    assert found is not None
    assert found.end_ms == 52_000
    assert set(found.samples.goodput_per_s.tolist()) == {60.0}  # 6 good in 0.1 s, and no 0 of a bucket not yet judged
    assert found.samples.caller_judged


def test_own_spans_that_arrive_late_cut_it_too() -> None:
    """Callers to 60.0 s, the pool itself to 57.0 s."""
    late = rows(*((0, tenth, 4.0 if tenth <= 570 else 0.0, 1 if tenth <= 570 else 0, 0, 6, 6) for tenth in range(601)))
    assert whole_before(late, 0, 70_000, 2_000) == 55_000


def test_without_judges_the_pools_own_newest_bucket_decides() -> None:
    assert whole_before(rows((0, 600, 1.0, 1, 1, 0, 0), (0, 590, 1.0, 1, 1, 0, 0)), 0, 70_000, 2_000) == 58_000


def test_other_pools_move_nothing() -> None:
    """Pool 1's rows end at 50.0 s: pool 0's are whole up to 58.0 s, and its own up to 48.0 s."""
    both = rows((0, 600, 1.0, 1, 1, 1, 1), (1, 500, 1.0, 1, 1, 1, 1))
    assert whole_before(both, 0, 70_000, 2_000) == 58_000
    assert whole_before(both, 1, 70_000, 2_000) == 48_000


def test_a_clock_that_is_ahead_makes_no_bucket_old() -> None:
    assert whole_before(rows((0, 900, 1.0, 1, 1, 1, 1)), 0, 60_000, 2_000) == 58_000


def test_a_pool_that_only_its_judges_saw_has_nothing() -> None:
    assert whole_before(rows((0, 600, 0.0, 0, 0, 5, 5)), 0, 70_000, 2_000) is None
