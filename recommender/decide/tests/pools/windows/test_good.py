"""What the spans that judge a pool show in its buckets, worked by hand."""

import numpy as np

from sluice.pools.policy.observation import Buckets
from sluice.pools.windows.good import with_good
from sluice.pools.windows.rows import WindowRows

BUSY_NS = 100 * 10**6


def rows(*each: tuple[int, ...]) -> WindowRows:
    """(start ms, own done, own good, judged, judged good, callers in flight); one in flight, buckets of 100 ms."""
    given = np.array(each, dtype=np.int64).reshape(-1, 6)
    start_ms, done, good, judged, judged_good, callers = given.T
    one = np.ones(len(given), dtype=np.int64)
    return WindowRows(start_ms, BUSY_NS * one, done, good, one, judged, judged_good, BUSY_NS * callers)


def buckets(completions: list[float], errors: list[float], instances: int = 1) -> Buckets:
    count = len(completions)
    return Buckets(
        1_000 + 100 * np.arange(count),
        np.ones(count),
        np.array(completions),
        0.1,
        errors=np.array(errors),
        instances=np.full(count, instances),
    )


def test_callers_judge_where_there_are_any() -> None:
    """9 of 10 calls are in time: 18 of 20 completions, less the one that failed. No call ended in the second bucket."""
    seen = rows((1_000, 20, 20, 10, 9, 3), (1_100, 20, 20, 0, 0, 4))
    found = with_good(buckets([20.0, 20.0], [1.0, 0.0]), seen, True, 100)
    np.testing.assert_allclose(found.good, [17.0, np.nan])
    np.testing.assert_allclose(found.callers, [3.0, 4.0])


def test_callers_are_divided_among_the_instances() -> None:
    found = with_good(buckets([20.0], [0.0], instances=2), rows((1_000, 40, 40, 40, 10, 6)), True, 100)
    assert (found.good.tolist(), found.callers.tolist()) == ([5.0], [3.0])


def test_without_callers_the_pool_s_own_spans_judge() -> None:
    found = with_good(buckets([10.0], [0.0]), rows((1_000, 10, 7, 0, 0, 0)), False, 100)
    np.testing.assert_allclose(found.good, [7.0])
    assert np.isnan(found.callers).all()


def test_a_bucket_without_a_row_is_unknown() -> None:
    found = with_good(buckets([0.0, 10.0], [0.0, 0.0]), rows((1_100, 10, 7, 10, 7, 2)), True, 100)
    np.testing.assert_allclose(found.good, [np.nan, 7.0])
    np.testing.assert_allclose(found.callers, [np.nan, 2.0])


def test_errors_in_time_are_no_completions_in_time() -> None:
    found = with_good(buckets([10.0], [10.0]), rows((1_000, 10, 10, 10, 10, 2)), True, 100)
    assert found.good.tolist() == [0.0]


def test_the_part_in_time_needs_a_third_of_the_buckets() -> None:
    good = np.array([8.0, np.nan, np.nan])
    of = buckets([10.0] * 3, [0.0] * 3)
    assert with_in_time(of, good) == 0.8
    assert np.isnan(with_in_time(buckets([10.0] * 4, [0.0] * 4), np.append(good, np.nan)))


def with_in_time(of: Buckets, good: np.ndarray) -> float:
    return Buckets(of.start_ms, of.concurrency, of.completions, 0.1, good=good).in_time
