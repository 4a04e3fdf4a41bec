"""Simulations of a minute each: Table 1's default in its loop, and the shop's optimum with other seeds."""

import pytest

from bench.profiled import PROFILED
from bench.table1 import looped
from testbed.presets.test_shop import check_carts_optimum


@pytest.mark.timeout(600)
def test_the_default_is_asked_each_minute_while_it_sizes_the_pool() -> None:
    result = looped(PROFILED[1], seeds=(11,))
    assert result.asked == len(result.targets) == 8
    assert all(12 <= size <= 24 for size in result.targets)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [2, 3])
def test_carts_optimum_is_inside_whatever_the_seed(seed: int) -> None:
    check_carts_optimum(seed)
