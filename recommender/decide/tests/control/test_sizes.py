import numpy as np

from fakes import CART
from sluice.control.sizes import Sizes, TargetSize, conditions


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


def test_targets_that_differ_while_they_roll_are_no_change_of_the_size() -> None:
    """As two replicas are written one after the other: the size changes once both have it."""
    sizes = Sizes()
    for at, instance, size in ((1000, "a", 64), (1000, "b", 64), (5000, "a", 12), (5500, "b", 64)):
        sizes.report(CART, size, at, instance)
    assert sizes.targets(CART, 6000) == (TargetSize("a", 12, 5000), TargetSize("b", 64, 5500))
    assert sizes.current(CART, 6000) is None
    assert sizes.unchanged_ms(CART, 6000) == 5000
    (mixed,) = conditions(sizes.targets(CART, 6000))
    assert (mixed.code, mixed.text) == ("MIXED", "targets differ: a 12, b 64")
    sizes.report(CART, 12, 7000, "b")
    assert (sizes.current(CART, 8000), sizes.unchanged_ms(CART, 8000)) == (12, 1000)
    assert conditions(sizes.targets(CART, 8000)) == ()


def test_targets_that_report_different_sizes_in_turns_are_no_changes() -> None:
    """Two replicas at 12 and 64 were a change with each report: nothing was judged any more."""
    sizes = Sizes()
    for at in range(0, 60_000, 2000):
        sizes.report(CART, 12, at, "a")
        sizes.report(CART, 64, at + 1000, "b")
    assert sizes.since_change_ms(CART, 60_000) is None


def test_a_target_that_is_gone_for_a_minute_no_longer_counts() -> None:
    sizes = Sizes()
    sizes.report(CART, 64, 0, "old")
    sizes.report(CART, 12, 1000, "new")
    assert sizes.current(CART, 60_000) is None
    assert sizes.current(CART, 60_001) == 12
    sizes.report(CART, 12, 62_000, "new")
    assert sizes.unchanged_ms(CART, 62_500) == 500


def test_a_pool_without_a_limit_has_no_size_and_not_0() -> None:
    sizes = Sizes()
    sizes.report(CART, None, 1000, "a")
    assert sizes.current(CART, 1500) is None
    assert [reason.code for reason in conditions(sizes.targets(CART, 1500))] == ["UNBOUNDED"]
    sizes.report(CART, 12, 2000, "a")
    limits = sizes.limits(CART, np.array([1000, 2000]))
    assert np.isnan(limits[0])
    assert limits[1] == 12
    assert sizes.at(CART, 1500) is None


def test_a_report_is_news_where_that_target_has_another_size() -> None:
    sizes = Sizes()
    reports = [(64, "a"), (64, "a"), (64, "b"), (12, "a"), (64, "b"), (None, "a"), (None, "a")]
    news = [sizes.report(CART, size, at, instance) for at, (size, instance) in enumerate(reports)]
    assert news == [True, False, True, True, False, True, False]
