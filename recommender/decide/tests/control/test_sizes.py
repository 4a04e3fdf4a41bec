import numpy as np

from fakes import CART
from sluice.control.sizes import Sizes


def test_the_size_in_force_at_each_bucket() -> None:
    sizes = Sizes()
    for at, size in ((1000, 64), (2000, 64), (3000, 12)):
        sizes.report(CART, size, at)
    limits = sizes.limits(CART, np.array([0, 1000, 2999, 3000, 9000]))
    assert limits.tolist() == [64, 64, 64, 12, 12]
    assert sizes.unchanged_ms(CART, 3500) == 500


def test_the_size_in_force_before_a_time() -> None:
    sizes = Sizes()
    for at, size in ((1000, 64), (3000, 12)):
        sizes.report(CART, size, at)
    assert [sizes.at(CART, at) for at in (1000, 1001, 3000, 3001)] == [None, 64, 64, 12]


def test_without_reports_nothing_is_known() -> None:
    assert np.isnan(Sizes().limits(CART, np.array([0, 1]))).all()
    assert Sizes().current(CART, 0) is None
    assert Sizes().unchanged_ms(CART, 99) == 0


def test_only_so_many_changes_are_remembered() -> None:
    sizes = Sizes()
    for at in range(1000):
        sizes.report(CART, at + 1, at)
    assert sizes.limits(CART, np.array([0, 999])).tolist() == [745, 1000]
