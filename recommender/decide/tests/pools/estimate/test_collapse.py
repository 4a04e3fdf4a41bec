"""A pool that completes less when full than below."""

from dataclasses import replace

import numpy as np
import pytest

from humps import samples_of
from sluice.pools.estimate import Samples
from sluice.pools.estimate.collapse import Collapse, find_collapse

NOISE = np.tile([-5.0, 5.0], 10)


def thrashing(full: float = 900.0, late: float = 1.0, turns: bool = True) -> Samples:
    """3 and 6.5 in flight complete 900 and 1500/s, 20 buckets each; 40 of 60, the size, `full`, and are `late`."""
    x = np.concatenate((np.full(20, 3.0), np.full(20, 6.5), np.full(40, 60.0)))
    rate = np.concatenate((900 + NOISE, 1500 + NOISE, full + NOISE, full + NOISE))
    times = np.arange(80) * 100
    seen = replace(samples_of(x, rate, limit=60), start_ms=times.reshape(40, 2).T.ravel() if turns else times)
    good = np.where(x == 60, (1 - late) * rate, rate)
    return replace(seen, goodput_per_s=good)


def test_the_level_that_completed_most_is_named() -> None:
    assert find_collapse(thrashing()) == Collapse(7, repeated=True)


def test_one_after_the_other_is_not_repeated() -> None:
    assert find_collapse(thrashing(turns=False)) == Collapse(7, repeated=False)
    assert find_collapse(replace(thrashing(), start_ms=None)) == Collapse(7, repeated=False)


@pytest.mark.parametrize("full", [1355.0, 1500.0, 1800.0])
def test_a_tenth_less_is_the_least(full: float) -> None:
    assert find_collapse(thrashing(full)) is None
    assert find_collapse(thrashing(1345.0)) is not None


def test_callers_who_are_served_need_nothing_else() -> None:
    assert find_collapse(thrashing(late=0.02)) is None
    assert find_collapse(thrashing(late=0.03)) is not None


def test_nothing_is_known_of_a_pool_that_is_seldom_or_always_full_or_whose_size_is_not() -> None:
    seen = thrashing()
    assert find_collapse(seen.take(seen.concurrency == 60)) is None
    assert find_collapse(seen.take(np.arange(44))) is None  # 4 of 44 full
    assert find_collapse(replace(seen, limit=np.full(80, np.nan))) is None


def test_noise_is_no_collapse() -> None:
    """+-600 at 1200/s when full: an error of 96, three of them are more than the 190 of the fall."""
    seen = thrashing(1310.0)
    rates = np.where(seen.concurrency == 60, 1310 + np.tile([-600.0, 600.0], 40), seen.throughput_per_s)
    assert find_collapse(replace(seen, throughput_per_s=rates)) is None
