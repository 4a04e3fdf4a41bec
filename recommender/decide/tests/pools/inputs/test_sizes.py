import numpy as np

from sluice.pools.inputs.sizes import SizeReport, Sizes, TargetSize, one_size
from sluice_kit.decide.fakes import CART


def limits(sizes: Sizes, *starts: int) -> list[float | None]:
    found = sizes.limits(CART, np.array(starts))
    assert found is not None
    return [None if np.isnan(size) else size for size in found.tolist()]


def test_the_size_in_force_at_each_bucket() -> None:
    sizes = Sizes()
    for at, size in ((1000, 64), (2000, 64), (3000, 12)):
        sizes.report(CART, SizeReport(size, at, written=True))
    assert limits(sizes, 0, 1000, 2999, 3000, 9000) == [64, 64, 64, 12, 12]


def test_a_size_that_was_found_may_be_as_old_as_the_last_look() -> None:
    """Set by hand between 2 s and 4 s: buckets from there on had either."""
    sizes = Sizes()
    for at, size in ((0, 12), (2000, 12), (4000, 200)):
        sizes.report(CART, SizeReport(size, at))
    assert limits(sizes, 0, 1999, 2000, 3999, 4000) == [12, 12, None, None, 200]


def test_without_reports_nothing_is_known() -> None:
    assert Sizes().limits(CART, np.array([0, 1])) is None
    assert Sizes().targets(CART, 0) == ()


def test_only_so_many_changes_are_remembered() -> None:
    sizes = Sizes()
    for at in range(1000):
        sizes.report(CART, SizeReport(at + 1, at, written=True))
    assert limits(sizes, 0, 999) == [745, 1000]


def test_while_targets_differ_the_pool_has_no_size() -> None:
    """As two replicas are written one after the other."""
    sizes = Sizes()
    for at, instance, size in ((1000, "a", 64), (1000, "b", 64), (5000, "a", 12), (5500, "b", 64)):
        sizes.report(CART, SizeReport(size, at, instance, written=True))
    targets = sizes.targets(CART, 6000)
    assert targets == (TargetSize("a", 12, 5000), TargetSize("b", 64, 5500))
    assert one_size(targets) is None
    sizes.report(CART, SizeReport(12, 7000, "b", written=True))
    assert one_size(sizes.targets(CART, 8000)) == 12
    assert limits(sizes, 4999, 5000, 6999, 7000) == [64, None, None, 12]


def test_a_target_that_is_gone_for_a_minute_no_longer_counts() -> None:
    sizes = Sizes()
    sizes.report(CART, SizeReport(64, 0, "old"))
    sizes.report(CART, SizeReport(12, 1000, "new"))
    assert one_size(sizes.targets(CART, 60_000)) is None
    assert one_size(sizes.targets(CART, 60_001)) == 12
    sizes.report(CART, SizeReport(12, 62_000, "new"))
    assert limits(sizes, 61_999, 62_000) == [None, 12]


def test_a_pool_without_a_limit_has_no_size_and_not_0() -> None:
    sizes = Sizes()
    sizes.report(CART, SizeReport(None, 1000, "a"))
    (target,) = sizes.targets(CART, 1500)
    assert (target.size, str(target)) == (None, "a unbounded")
    sizes.report(CART, SizeReport(12, 2000, "a", written=True))
    assert limits(sizes, 1000, 2000) == [None, 12]


def test_a_restart_knows_since_when_the_size_is_in_force() -> None:
    sizes = Sizes()
    sizes.restore(CART, 12, 5000)
    assert limits(sizes, 4999, 5000) == [None, 12]
    sizes.report(CART, SizeReport(12, 9000))
    assert limits(sizes, 4999, 5000, 9000) == [None, 12, 12]
    sizes.restore(CART, 64, 0)
    assert limits(sizes, 9000) == [12]


def test_while_targets_differ_each_has_its_own() -> None:
    sizes = Sizes()
    for at, instance, size in ((1000, "a", 64), (1000, "b", 64), (5000, "a", 12)):
        sizes.report(CART, SizeReport(size, at, instance, written=True))
    assert sizes.instances(CART) == ("a", "b")
    for instance, expected in (("a", [64, 12]), ("b", [64, 64])):
        found = sizes.of_target(CART, instance, np.array([4999, 5000]))
        assert found is not None
        assert found.tolist() == expected
    assert sizes.of_target(CART, "c", np.array([0])) is None


def test_the_first_reporter_keeps_a_target_for_a_minute_after_its_last_report() -> None:
    sizes = Sizes()
    sizes.report(CART, SizeReport(64, 0, "a", reporter="one"))
    sizes.report(CART, SizeReport(12, 30_000, "a", written=True, reporter="two"))
    assert sizes.targets(CART, 30_000) == (TargetSize("a", 64, 0, reporter="one", owned_at_ms=0),)
    sizes.report(CART, SizeReport(48, 40_000, "a", reporter="one"))
    sizes.report(CART, SizeReport(12, 100_000, "a", reporter="two"))
    assert sizes.targets(CART, 100_000) == (TargetSize("a", 48, 40_000, reporter="one", owned_at_ms=40_000),)
    sizes.report(CART, SizeReport(12, 100_001, "a", reporter="two"))
    assert sizes.targets(CART, 100_001) == (TargetSize("a", 12, 100_001, reporter="two", owned_at_ms=100_001),)


def test_an_actuator_that_only_recommends_neither_owns_a_target_nor_takes_it() -> None:
    sizes = Sizes()
    sizes.report(CART, SizeReport(64, 0, "a"))
    sizes.report(CART, SizeReport(32, 1000, "a", written=True, reporter="one"))
    sizes.report(CART, SizeReport(32, 2000, "a"))
    assert sizes.targets(CART, 2000) == (TargetSize("a", 32, 2000, reporter="one", owned_at_ms=1000),)
    sizes.report(CART, SizeReport(12, 3000, "a", reporter="two"))
    assert sizes.targets(CART, 3000)[0].size == 32
    sizes.report(CART, SizeReport(32, 61_001, "a"))
    assert sizes.targets(CART, 61_001) == (TargetSize("a", 32, 61_001),)


def test_reporters_of_other_targets_and_without_a_name_are_not_compared() -> None:
    sizes = Sizes()
    sizes.report(CART, SizeReport(64, 0, "a", reporter="one"))
    sizes.report(CART, SizeReport(64, 1000, "b", reporter="two"))
    sizes.report(CART, SizeReport(12, 2000, "a"))
    sizes.report(CART, SizeReport(16, 3000, "a", reporter="two"))
    assert sizes.targets(CART, 4000) == (
        TargetSize("a", 12, 2000, reporter="one"),
        TargetSize("b", 64, 1000, reporter="two", owned_at_ms=1000),
    )


def test_an_slo_goes_with_its_target() -> None:
    """One more minute after the last report, as the size; and at once where the owner declares none any more."""
    sizes = Sizes()
    sizes.report(CART, SizeReport(8, 0, "a", slo_ms=200))
    sizes.report(CART, SizeReport(8, 1_000, "b", slo_ms=300))
    assert [target.slo_ms for target in sizes.targets(CART, 60_000)] == [200, 300]
    assert [target.slo_ms for target in sizes.targets(CART, 60_001)] == [300]
    sizes.report(CART, SizeReport(8, 60_500, "b"))
    assert [target.slo_ms for target in sizes.targets(CART, 60_500)] == [None]


def test_the_slo_is_the_owners() -> None:
    sizes = Sizes()
    sizes.report(CART, SizeReport(8, 0, "a", reporter="one", slo_ms=200))
    for report in (SizeReport(8, 1_000, "a"), SizeReport(8, 2_000, "a", reporter="two", slo_ms=300)):
        sizes.report(CART, report)
        assert [target.slo_ms for target in sizes.targets(CART, 2_000)] == [200]
    sizes.report(CART, SizeReport(8, 3_000, "a", reporter="one"))
    assert [target.slo_ms for target in sizes.targets(CART, 3_000)] == [None]


def test_a_target_that_one_actuator_recommends_and_another_owns_is_written() -> None:
    sizes = Sizes()
    sizes.report(CART, SizeReport(8, 0, "a", recommends=True))
    assert [target.recommends for target in sizes.targets(CART, 0)] == [True]
    for report in (SizeReport(8, 1_000, "a", reporter="one"), SizeReport(8, 2_000, "a", recommends=True)):
        sizes.report(CART, report)
        assert [target.recommends for target in sizes.targets(CART, 2_000)] == [False]
