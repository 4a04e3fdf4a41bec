"""Buckets without gaps, and who is there in them: with rows worked out by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.policy.observation import Buckets
from sluice.pools.windows.complete_buckets import alone, whole

BUSY = 10**8  # one in flight for all of a bucket of 100 ms


def of(busy: list[list[float]], done: list[list[int]], before_ms: int, bucket_ms: int = 100) -> Buckets | None:
    start = 1_000 + bucket_ms * np.arange(len(busy[0]) if busy else 3)
    shape = (len(busy), len(start))
    in_flight = np.array(busy, dtype=np.float64).reshape(shape)
    busy_ns = np.rint(in_flight * bucket_ms * 1e6).astype(np.int64)
    return whole(
        start, busy_ns, np.array(done, dtype=np.int64).reshape(shape), np.zeros_like(busy_ns), before_ms, bucket_ms
    )


def test_a_bucket_without_anything_in_flight_is_a_zero_and_none_is_left_out() -> None:
    found = of([[0, 3, 0, 0, 5, 1]], [[1, 2, 0, 0, 4, 9]], 1_500)
    assert found is not None
    assert found.start_ms.tolist() == [1_100, 1_200, 1_300, 1_400]
    assert found.concurrency.tolist() == [3, 0, 0, 5]
    assert found.completions.tolist() == [2, 0, 0, 4]
    assert found.instances.tolist() == [1, 1, 1, 1]
    assert (len(found), found.bucket_ms) == (4, 100)


def test_an_instance_that_is_idle_for_a_bucket_is_there() -> None:
    """The example: 1, and 2 in every second bucket."""
    found = of([[1, 1, 1, 1], [2, 0, 2, 0]], [[1, 1, 1, 1], [3, 0, 3, 0]], 1_400)
    assert found is not None
    assert found.instances.tolist() == [2, 2, 2, 2]
    assert found.concurrency.tolist() == [1.5, 0.5, 1.5, 0.5]
    assert found.completions.tolist() == [2, 0.5, 2, 0.5]


def test_an_instance_is_there_from_five_seconds_before_its_first_bucket_to_five_after_its_last() -> None:
    """Buckets of 1 s: one busy in all of 20, the other in those from 8 s to 9 s."""
    second = [0.0] * 8 + [1.0, 1.0] + [0.0] * 10
    found = of([[1.0] * 20, second, [0.0] * 20], [[1] * 20, [0] * 20, [0] * 20], 60_000, bucket_ms=1_000)
    assert found is not None
    assert found.instances.tolist() == [1] * 3 + [2] * 12 + [1] * 5


def test_what_comes_after_the_border_still_tells_who_is_there() -> None:
    found = of([[1, 1, 1, 1], [0, 0, 0, 2]], [[1] * 4, [1] * 4], 1_300)
    assert found is not None
    assert found.instances.tolist() == [2, 2, 2]


def test_nothing_whole_is_none() -> None:
    assert of([], [], 2_000) is None
    assert of([[0, 0, 0]], [[1, 1, 1]], 2_000) is None
    assert of([[0, 0, 1]], [[1, 1, 1]], 1_200) is None
    assert of([[1, 1, 1]], [[1, 1, 1]], -1) is None


def test_since_is_what_starts_later() -> None:
    found = of([[1, 2, 3, 4]], [[1, 2, 3, 4]], 1_400)
    assert found is not None
    assert found.since(1_100).concurrency.tolist() == [3, 4]
    assert found.since(1_099).concurrency.tolist() == [2, 3, 4]
    assert len(found.since(1_300)) == 0
    assert len(found.since(-1)) == 4


def test_one_alone_ends_five_seconds_after_its_last_bucket() -> None:
    start = 1_000 * np.arange(20)
    busy = np.zeros(20, dtype=np.int64)
    busy[[2, 4]] = 2 * 10**9
    done = np.ones(20, dtype=np.int64)
    found = alone(start, busy, done, 0 * done, 60_000, 1_000)
    assert found is not None
    assert found.start_ms.tolist() == list(range(2_000, 10_000, 1_000))
    assert found.concurrency.tolist() == [2, 0, 2, 0, 0, 0, 0, 0]
    cut = alone(start, busy, done, 0 * done, 6_000, 1_000)
    assert cut is not None
    assert cut.start_ms.tolist() == [2_000, 3_000, 4_000, 5_000]
    assert alone(start, np.zeros(20, dtype=np.int64), done, 0 * done, 60_000, 1_000) is None


@given(
    st.integers(1, 4).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=1, max_size=150)
    ),
    st.integers(0, 160),
)
def test_rates_of_one_times_the_instances_are_all(columns: list[list[int]], border: int) -> None:
    busy = np.array(columns, dtype=np.int64).T
    start = 100 * np.arange(busy.shape[1])
    found = whole(start, busy * BUSY, 2 * busy, busy, 100 * border, 100)
    any_busy = np.flatnonzero(busy.any(axis=0))
    if found is None:
        assert len(any_busy) == 0 or any_busy[0] >= border
        return
    part = slice(int(any_busy[0]), min(border, len(start)))
    assert found.start_ms.tolist() == start[part].tolist()
    np.testing.assert_allclose(found.concurrency * found.instances, busy[:, part].sum(axis=0))
    np.testing.assert_allclose(found.completions * found.instances, 2 * busy[:, part].sum(axis=0))
    np.testing.assert_allclose(found.errors * found.instances, busy[:, part].sum(axis=0))
    assert (found.instances >= (busy[:, part] > 0).sum(axis=0)).all()
    assert (found.instances <= np.maximum(1, busy.any(axis=1).sum())).all()
