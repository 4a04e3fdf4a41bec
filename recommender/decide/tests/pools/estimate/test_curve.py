import numpy as np

from sluice.pools.estimate.curve import Curve, merge_thin, per_level
from sluice.pools.estimate.samples import Samples


def samples(pairs: list[tuple[float, float]]) -> Samples:
    x, y = (np.array(column) for column in zip(*pairs, strict=True))
    return Samples(x, y, y, np.ones(len(x)), np.full(len(x), np.nan), 1, True)


def test_a_level_averages_the_buckets_that_round_to_it() -> None:
    curve = per_level(samples([(2.4, 100), (2.5, 120), (3.4, 140), (7.0, 10)]))
    assert curve.concurrency.tolist() == [2.4, 2.95, 7.0]  # (2.5 + 3.4) / 2
    assert curve.goodput_per_s.tolist() == [100, 130, 10]
    assert curve.count.tolist() == [1, 2, 1]


def test_the_order_of_the_samples_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    y = rng.uniform(0, 90, 300)
    one = Samples(rng.uniform(0, 20, 300), y, y, np.ones(300), np.full(300, np.nan), 1, True)
    other = one.take(np.argsort(rng.uniform(size=300)).astype(np.intp))
    assert per_level(one).goodput_per_s.tolist() == per_level(other).goodput_per_s.tolist()


def test_thin_points_are_merged_from_the_left_and_the_rest_joins_the_last() -> None:
    curve = Curve(
        np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([10.0, 20.0, 30.0, 40.0, 90.0]), np.array([6.0, 6, 9, 3, 2])
    )
    merged = merge_thin(curve, 10)
    # 6 + 6 = 12 make the first; 9 + 3 + 2 = 14 the second: 12 would do, but 2 alone would be left.
    assert merged.count.tolist() == [12, 14]
    assert merged.concurrency.tolist() == [1.5, (9 * 3 + 3 * 4 + 2 * 5) / 14]
    assert merged.goodput_per_s.tolist() == [15.0, (9 * 30 + 3 * 40 + 2 * 90) / 14]


def test_fewer_buckets_than_a_point_needs_make_one_point() -> None:
    merged = merge_thin(Curve(np.array([1.0, 2.0]), np.array([10.0, 20.0]), np.array([1.0, 1.0])), 10)
    assert (merged.concurrency.tolist(), merged.count.tolist()) == ([1.5], [2.0])
