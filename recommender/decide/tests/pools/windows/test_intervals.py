"""Longer buckets out of stored ones, with rows worked out by hand."""

from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.windows.intervals import coarsen, interval_for, measure_over
from sluice.pools.windows.rows import WindowRows

MS = 10**6


def rows(*each: tuple[int, float, int, int, int, int, int]) -> WindowRows:
    """(bucket start ms, in flight over 100 ms, own done, own good, instances, judged, judged good); as many callers."""
    busy = [round(100 * MS * in_flight) for _, in_flight, *_ in each]
    columns = [[start, ns, *counts, ns] for ns, (start, _, *counts) in zip(busy, each, strict=True)]
    return WindowRows(*np.array(columns, dtype=np.int64).reshape(-1, 8).T)


PAIR = rows((1000, 3.0, 4, 3, 1, 5, 4), (1100, 5.0, 6, 6, 2, 7, 2), (1200, 8.0, 1, 0, 2, 1, 1))


def test_buckets_are_summed() -> None:
    long = coarsen(PAIR, 100, 200)
    assert long.bucket_start_ms.tolist() == [1000, 1200]
    assert long.busy_ns.tolist() == long.judge_busy_ns.tolist() == [800 * MS, 800 * MS]
    assert (long.own_completions.tolist(), long.own_good.tolist()) == ([10, 1], [9, 0])
    assert (long.judge_completions.tolist(), long.judge_good.tolist()) == ([12, 1], [6, 1])
    assert long.instances.tolist() == [2, 2]


def test_a_longer_bucket_that_is_not_whole_is_left_out() -> None:
    """Of [1000, 1200) all is there; of [1200, 1400) the second half is not."""
    found = measure_over(PAIR, 1000, 1300, 100, 200)
    assert found is not None
    assert (found.bucket_start_ms.tolist(), found.bucket_ms) == ([1000], 200)
    # 4 in flight on the mean, at 2 instances; 6 good in 0.2 s, by 2 instances.
    assert (found.samples.concurrency.tolist(), found.samples.goodput_per_s.tolist()) == ([2.0], [15.0])
    assert (found.start_ms, found.end_ms) == (1000, 1200)
    whole = measure_over(PAIR, 1000, 1400, 100, 200)
    assert whole is not None
    assert whole.bucket_start_ms.tolist() == [1000, 1200]
    assert measure_over(PAIR, 1100, 1300, 100, 200) is None


def test_the_stored_length_is_left_as_it_is() -> None:
    found = measure_over(PAIR, 1000, 1300, 100, 100)
    assert found is not None
    assert found.samples.goodput_per_s.tolist() == [40.0, 10.0, 5.0]


def test_the_choice_goes_by_the_pools_own_concurrency_and_its_judges_completions() -> None:
    """200 completions a second by callers, 20 by its own spans: 100 ms hold ten of the former."""
    start = [(100 * k, 1.0 + k % 50, 2, 2, 1, 20, 20) for k in range(600)]
    found = interval_for(rows(*start), 0, 60_000, 100)
    assert found is not None
    assert found.ms == 100
    unjudged = interval_for(rows(*((*each[:5], 0, 0) for each in start)), 0, 60_000, 100)
    assert unjudged is not None
    assert unjudged.ms == 500
    assert interval_for(rows(*start), 60_000, 70_000, 100) is None


@given(
    st.lists(st.tuples(st.integers(0, 99), *[st.integers(0, 50)] * 6), min_size=1, unique_by=lambda each: each[0]),
    st.sampled_from((1, 2, 5, 10)),
)
def test_nothing_is_lost_in_longer_buckets(each: list[tuple[int, ...]], factor: int) -> None:
    fine = rows(*((100 * at, float(x), *counts) for at, x, *counts in each))  # type: ignore[arg-type]
    long = coarsen(fine, 100, 100 * factor)
    for name in [field.name for field in fields(WindowRows)][2:]:
        if name != "instances":
            assert getattr(long, name).sum() == getattr(fine, name).sum()
    assert (long.bucket_start_ms % (100 * factor) == 0).all()
    assert long.instances.max() == fine.instances.max()
    assert len(np.unique(long.bucket_start_ms)) == len(long.bucket_start_ms)
