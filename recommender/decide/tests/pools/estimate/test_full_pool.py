"""What is read from the buckets in which a pool was full."""

from dataclasses import replace

import numpy as np

from humps import samples_of
from sluice.pools.estimate import full_pool


def test_a_pool_that_thrashes_when_full_does_not_work_hardest_then() -> None:
    level = np.repeat([6.0, 10.0], 20)
    too_small = samples_of(level, np.repeat([60.0, 100.0], 20), limit=10)
    thrashing = samples_of(level, np.repeat([60.0, 30.0], 20), limit=10)
    assert full_pool.works_hardest_when_full(too_small)
    assert not full_pool.works_hardest_when_full(thrashing)
    assert full_pool.is_limited(too_small)
    assert not full_pool.is_limited(samples_of(level, level, limit=np.nan))


def test_a_pool_starves_its_callers_when_it_is_nearly_always_full_and_most_are_late() -> None:
    """18 of 20 buckets full, and in these 49 of 100 good."""
    x, good = np.array([2.0] * 2 + [8.0] * 18), np.array([100.0] * 2 + [49.0] * 18)
    samples = replace(samples_of(x, good, limit=8), throughput_per_s=np.full(20, 100.0))
    assert full_pool.starves(samples)
    assert not full_pool.starves(samples.take(np.arange(19)))  # 17 of 19: 89 %
    assert not full_pool.starves(replace(samples, goodput_per_s=good + 1))
    assert not full_pool.starves(replace(samples, caller_judged=False))
    assert not full_pool.starves(replace(samples, limit=np.full(20, np.nan)))
    assert not full_pool.starves(samples.take(np.zeros(20, dtype=bool)))


def test_callers_are_served_when_nearly_all_is_good_while_the_pool_is_full() -> None:
    """Full at 8: 98 of 100 good. That all is late at 2 does not matter here."""
    x, good = np.array([2.0, 8.0, 8.0]), np.array([0.0, 97.0, 99.0])
    samples = replace(samples_of(x, good, limit=8), throughput_per_s=np.full(3, 100.0))
    assert full_pool.serves(samples)
    assert not full_pool.serves(replace(samples, goodput_per_s=good - 1))
    assert not full_pool.serves(replace(samples, caller_judged=False))
    assert not full_pool.serves(samples.take(np.array([True, False, False])))


def test_a_wait_inside_a_full_pool_is_told_from_one_before_it() -> None:
    """10 in flight and 10 a second: 1 s. Where it is not full (2 in flight, 1 a second: 2 s) does not matter."""
    samples = samples_of(np.array([2.0, 10.0, 10.0]), np.array([1.0, 9.0, 11.0]), limit=10)
    assert full_pool.late_inside(samples, 0.999)
    assert not full_pool.late_inside(samples, 1.0)
    assert not full_pool.late_inside(samples.take(np.array([True, False, False])), 0.1)
    assert full_pool.late_inside(samples_of(np.array([10.0]), np.array([0.0]), limit=10), 9.0)  # nothing comes back
