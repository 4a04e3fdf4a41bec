"""Seconds, their levels, and how they are forgotten: numbers by hand."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.estimate.belief.evidence import (
    LEAST_SECONDS,
    MEMORY_S,
    TAU_ELSEWHERE,
    TAU_PARTIAL,
    TAU_SATURATED,
    UNREPORTED,
    Evidence,
    Second,
    second,
    share_full,
)
from sluice_kit.decide.feeds import seconds_of


def of(full_buckets: int, size: int = 10, completions: float = 5.0) -> Second | None:
    """A second of ten buckets, so many of them full and the others half full."""
    in_flight = np.where(np.arange(10) < full_buckets, float(size), size / 2)
    return second(4.0, size, in_flight, np.full(10, completions), 0.1)


@pytest.mark.parametrize(
    ("full_buckets", "full", "saturated"), [(10, True, True), (9, True, False), (7, True, False), (4, False, False)]
)
def test_a_second_is_of_a_full_pool_or_of_one_that_is_not(full_buckets: int, full: bool, saturated: bool) -> None:
    found = of(full_buckets)
    assert found is not None
    assert (found.full, found.saturated) == (full, saturated)
    # Whole, at its mean in flight: 7 buckets at 10 and 3 at 5 are 8.5.
    assert found.concurrency == pytest.approx((10 * full_buckets + 5 * (10 - full_buckets)) / 10)
    assert found.completions == pytest.approx(50)
    assert found.seconds == pytest.approx(1)
    assert found.ln_rate == pytest.approx(log(50))


@pytest.mark.parametrize("full_buckets", [5, 6])
def test_in_between_it_is_neither(full_buckets: int) -> None:
    assert of(full_buckets) is None


def test_a_second_in_which_a_pool_drains_is_neither() -> None:
    """From 46 to 24, as the requests that were in flight end. More than 1.15 times its size all along, 27.6, is nothing
    that it holds; 27 is."""
    drains = np.linspace(46.0, 24.0, 10)
    assert second(4.0, 24, drains, np.full(10, 10.0), 0.1) is None
    done = second(4.0, 24, np.full(10, 24.0), np.full(10, 10.0), 0.1)
    over = second(4.0, 24, np.full(10, 27.0), np.full(10, 10.0), 0.1)
    assert done is not None
    assert over is not None
    assert (done.concurrency, over.concurrency) == (24.0, 27.0)
    assert second(4.0, 24, np.full(10, 28.0), np.full(10, 10.0), 0.1) is None


def test_without_completions_or_requests_there_is_nothing_to_learn() -> None:
    none = np.zeros(10)
    assert of(10, completions=0) is None
    assert second(4.0, 10, none, none + 1, 0.1) is None
    assert second(4.0, 10, np.zeros(0), np.zeros(0), 0.1) is None


@pytest.mark.parametrize(("size", "least"), [(1, 0.5), (4, 3.5), (5, 4.5), (10, 9.0), (100, 90.0)])
def test_a_bucket_is_full_within_half_a_request_or_a_tenth(size: int, least: float) -> None:
    assert share_full(size, np.array([least, least - 0.01])) == 0.5


def one(concurrency: float = 10.0, full: bool = True, cores: float = 4.0, rate: float = 100.0) -> Second:
    return Second(cores, full, full, concurrency, rate, 1.0)


def left_of(completions: float) -> float:
    """Of a saturated pool's level after a second at another size."""
    return exp(-1 / 14_400) / (1 + 3e-8 * completions)


def test_seconds_about_one_concurrency_are_one_level() -> None:
    # Steps of 5 %: ln 10 / 0.05 = 46.05 and ln 10.2 / 0.05 = 46.4 are both 46; ln 10.5 / 0.05 = 47.03 is 47.
    found = Evidence().with_second(one(10.0)).with_second(one(10.2)).with_second(one(10.5))
    assert [level.step for level in found.levels] == [46, 47]
    # The newest second is another level's.
    share, left = exp(-1 / 180), left_of(100 * exp(-1 / 180) + 100)
    assert found.levels[0].seconds == pytest.approx((share + 1) * left)
    assert found.levels[0].in_flight_s == pytest.approx((10.0 * share + 10.2) * left)
    assert found.levels[0].completions == pytest.approx(100 * (share + 1) * left)


def test_a_pool_that_is_not_full_has_wider_levels() -> None:
    # Steps of 12 %: ln 10 / 0.12 = 19.19 and ln 10.5 / 0.12 = 19.6; ln 9.9 / 0.12 = 19.1.
    found = Evidence().with_second(one(10.0, full=False)).with_second(one(9.9, full=False))
    assert [level.step for level in found.levels] == [19]


def test_after_180_s_of_its_kind_evidence_counts_1_in_e() -> None:
    found = Evidence().with_second(Second(4.0, True, False, 10.0, 1_000.0, 10.0))
    for _ in range(180):
        found = found.with_second(Second(4.0, True, False, 60.0, 100.0, 1.0))
    old = next(level for level in found.levels if level.step == 46)
    assert old.seconds == pytest.approx(10 / np.e)
    assert old.completions == pytest.approx(1_000 / np.e)


def test_a_saturated_pool_s_size_forgets_180_s_while_it_is_in_force() -> None:
    found = Evidence()
    for _ in range(2_000):
        found = found.with_second(one())
    assert seconds_of(found) == pytest.approx(1 / (1 - exp(-1 / 180)), rel=1e-4)


def test_a_saturated_pool_s_size_that_is_not_in_force_gets_less_sure() -> None:
    """10,000 completions and 10 minutes: 1 / (1e-4 + 600 x 3e-8) = 8,475, of which exp(-600 / 14,400) are left."""
    found = Evidence().with_second(Second(4.0, True, True, 10.0, 10_000.0, 10.0))
    after_1 = found.with_second(one(60.0))
    assert after_1.levels[0].completions == pytest.approx(9_996, abs=1)
    for _ in range(600):
        found = found.with_second(one(60.0))
    old = next(level for level in found.levels if level.step == 46)
    assert old.completions == pytest.approx(8_129, rel=0.005)
    assert old.completions / old.seconds == pytest.approx(1_000)
    assert old.in_flight_s / old.seconds == pytest.approx(10)


@pytest.mark.parametrize("other", [one(60.0, full=False), one(60.0, cores=2.0)])
def test_other_kinds_and_other_cores_are_not_forgotten_for_it(other: Second) -> None:
    found = Evidence().with_second(one())
    before = found.levels[0]
    for _ in range(1_000):
        found = found.with_second(other)
    assert found.levels[0] == before
    assert found.seconds_on(4.0) == pytest.approx(1 if other.cores != 4 else seconds_of(found))


def test_what_is_all_but_forgotten_is_gone() -> None:
    # A second counts under 0.15 after ln(1 / 0.15) x 180 = 342 s.
    light, other = one(full=False), one(60.0, full=False)
    found = Evidence().with_second(light)
    for _ in range(341):
        found = found.with_second(other)
    assert len(found.levels) == 2
    assert len(found.with_second(other).levels) == 1


def test_rows_have_the_counting_error_and_that_which_stays() -> None:
    evidence = Evidence().with_second(Second(4.0, True, True, 10.0, 2_000.0, 10.0))
    rows = evidence.rows(4.0)
    assert rows.variance[0] ** 0.5 == pytest.approx(0.0234, abs=5e-5)
    assert rows.variance[0] == pytest.approx(1 / 2_000 + 0.007**2)
    assert (rows.ln_n[0], rows.ln_rate[0]) == (pytest.approx(log(10)), pytest.approx(log(200)))
    assert rows.full[0]
    assert rows.scale[0] == 1
    # Counts that vary twice as much as Poisson's; other cores; a pool that is not full.
    assert evidence.rows(4.0, dispersion=2.0).variance[0] == pytest.approx(2 / 2_000 + TAU_SATURATED**2)
    elsewhere = evidence.rows(8.0)
    assert elsewhere.variance[0] == pytest.approx(1 / 2_000 + TAU_SATURATED**2 + TAU_ELSEWHERE**2)
    assert elsewhere.scale[0] == 0.5
    light = Evidence().with_second(Second(4.0, False, False, 10.0, 2_000.0, 10.0)).rows(4.0)
    assert light.variance[0] == pytest.approx(1 / 2_000 + TAU_PARTIAL**2)


@pytest.mark.parametrize(("seconds", "completions", "rows"), [(0.29, 100, 0), (0.3, 100, 1), (1, 2.9, 0), (1, 3, 1)])
def test_a_level_says_something_from_its_least_on(seconds: float, completions: float, rows: int) -> None:
    evidence = Evidence().with_second(Second(4.0, True, True, 10.0, completions, seconds))
    assert len(evidence.rows(4.0)) == rows


def test_completions_at_a_size_are_those_of_the_full_pool_within_a_step() -> None:
    evidence = Evidence()
    for each in (one(10.0), one(10.4), one(11.0), one(10.0, full=False), one(10.0, cores=2.0)):
        evidence = evidence.with_second(each)
    # 10.4 is ln 1.04 = 3.9 % away, 11 is 9.5 %.
    found = evidence.completions_at(4.0, np.array([10, 40]))
    assert found == pytest.approx([100 * left_of(100) ** 2 + 100 * left_of(100), 0.0])
    assert evidence.completions_at(2.0, np.array([10])) == pytest.approx([100])
    assert evidence.completions_at(8.0, np.array([10, 40])).tolist() == [0.0, 0.0]


def test_weight_counts_seconds_of_a_saturated_pool_double() -> None:
    found = (
        Evidence().with_second(one()).with_second(one(full=False)).with_second(Second(2.0, True, False, 9.0, 50.0, 1.0))
    )
    assert found.weight(4.0) == found.weight(8.0) == pytest.approx(2 + 1 + 1)


def test_cores_that_nobody_told_and_told_ones_say_nothing_of_each_other() -> None:
    found = Evidence().with_second(one()).with_second(one(20.0, cores=2.0)).with_second(one(40.0, cores=UNREPORTED))
    told, untold = found.rows(4.0), found.rows(UNREPORTED)
    assert np.exp(told.ln_n) == pytest.approx([10.0, 20.0])
    assert told.scale.tolist() == [1.0, 0.5]
    assert np.exp(untold.ln_n) == pytest.approx([40.0])
    assert untold.scale.tolist() == [1.0]
    assert untold.variance[0] == pytest.approx(1 / 100 + TAU_SATURATED**2)
    assert (found.weight(4.0), found.weight(UNREPORTED)) == (pytest.approx(2 + 2), pytest.approx(2))
    assert found.seconds_on(UNREPORTED) == 1
    assert found.completions_at(UNREPORTED, np.array([10, 40])).tolist() == [0.0, 100.0]


SECONDS = st.builds(
    lambda cores, kind, *seen: Second(cores, *kind, *seen),
    st.sampled_from([2.0, 4.0]),
    st.sampled_from([(False, False), (True, False), (True, True)]),
    st.floats(0.05, 600.0),
    st.floats(0.1, 5_000.0),
    st.floats(0.05, 1.0),
)


@given(st.lists(SECONDS, max_size=40), SECONDS)
def test_evidence_only_forgets(before: list[Second], new: Second) -> None:
    """A second adds itself to one level; no other level ever grows, and none moves."""
    old = Evidence()
    for each in before:
        old = old.with_second(each)
    after = old.with_second(new)
    was = {(level.cores, level.full, level.saturated, level.step): level for level in old.levels}
    grown = 0
    for level in after.levels:
        past = was.get((level.cores, level.full, level.saturated, level.step))
        if past is None or level.seconds > past.seconds:
            grown += 1
            continue
        assert level.completions <= past.completions + new.completions
        if level is not after.levels[-1]:
            assert level.completions <= past.completions
            assert level.in_flight_s / level.seconds == pytest.approx(past.in_flight_s / past.seconds)
    assert grown <= 1
    assert seconds_of(after) <= seconds_of(old) + new.seconds + 1e-9


@given(st.lists(SECONDS, max_size=60))
def test_a_kind_never_has_more_than_its_memory(seen: list[Second]) -> None:
    evidence = Evidence()
    for each in seen:
        evidence = evidence.with_second(each)
    for cores in (2.0, 4.0):
        for kind in ((True, False), (False, False)):
            of_kind = [each for each in evidence.levels if (each.cores, each.full, each.saturated) == (cores, *kind)]
            # A second is added to what is left of older ones: at most 1 / (1 - exp(-1 / 180)) = 180.5.
            assert sum(level.seconds for level in of_kind) <= MEMORY_S + 1
    # Of a saturated pool each size has its own.
    assert all(level.seconds <= MEMORY_S + 1 for level in evidence.levels)
    assert all(level.seconds >= LEAST_SECONDS / 2 for level in evidence.levels[:-1])
    rows = evidence.rows(4.0)
    for each in (rows.ln_n, rows.ln_rate, rows.variance, rows.scale):
        assert np.isfinite(each).all()
    assert (rows.variance > 0).all()


def test_a_pool_whose_requests_do_not_end_says_nothing() -> None:
    """48 threads of which spans show 20, since only those end that began long ago: 10 a second complete. With what is
    missing it would be full, which nobody saw."""
    few, slow = np.full(10, 20.0), np.full(10, 1.0)
    assert second(4.0, 48, few, slow, 0.1, age_s=2.0) is None
    # 200 a second complete after 0.1 s each: none is missing after 2 s, and few right at the end.
    quick = second(4.0, 48, few, np.full(10, 20.0), 0.1, age_s=2.0)
    assert quick == Second(4.0, False, False, 20.0, 200.0, 1.0)
    # Of 25 seen of 40 a second after 2 s: (1 - exp(-u)) / u = 0.3 at u = 3.2, so 4 % are missing.
    assert second(4.0, 48, np.full(10, 25.0), np.full(10, 4.0), 0.1, age_s=2.0) == Second(
        4.0, False, False, pytest.approx(26.1, abs=0.2), 40.0, 1.0
    )
    # Next to nothing in a large pool is next to nothing; and what was read long ago has ended.
    light = second(4.0, 48, np.full(10, 3.0), np.full(10, 0.1), 0.1, age_s=2.0)
    assert light is not None
    assert light.concurrency == 3.0
    assert second(4.0, 48, few, slow, 0.1) == Second(4.0, False, False, 20.0, 10.0, 1.0)


def test_what_has_not_ended_makes_no_second_full() -> None:
    """4.6 in flight of 16 threads, 34 completions, read after 0.1 s: that would be 16. After 5 s nothing is missing."""
    some, done = np.full(10, 4.6), np.full(10, 3.4)
    assert second(4.0, 16, some, done, 0.1, age_s=0.1) is None
    assert second(4.0, 16, some, done, 0.1, age_s=5.0) == Second(
        4.0, False, False, pytest.approx(4.6), pytest.approx(34.0), pytest.approx(1.0)
    )


@given(
    size=st.integers(2, 200),
    in_flight=st.lists(st.floats(0.0, 1.0), min_size=10, max_size=10),
    done=st.floats(0.1, 50.0),
    age_s=st.floats(0.0, 10.0),
)
def test_read_young_or_old_a_second_is_full_only_by_what_was_seen(
    size: int, in_flight: list[float], done: float, age_s: float
) -> None:
    seen = [size * each for each in in_flight]
    found = second(4.0, size, seen, [done] * 10, 0.1, age_s)
    if found is not None and found.full:
        assert share_full(size, seen) >= 0.7
    if found is not None:
        assert found.concurrency <= 1.3 * sum(seen) / 10 + 1e-9


def test_a_second_that_mixes_a_full_pool_with_an_idle_one_says_nothing() -> None:
    """Four tenths of it at 32 with 1,500 a second, the rest at 2.5 with 800: 17 in flight do not complete 1,150."""
    mixed = [32.0] * 4 + [24.0] + [2.5] * 5
    done = [150.0] * 5 + [80.0] * 5
    assert second(4.0, 32, mixed, done, 0.1) is None
    # Without a full bucket nothing limited what completed, and a bucket or two do not make a third.
    assert second(4.0, 40, mixed, done, 0.1) is not None
    assert second(4.0, 32, [32.0, *[28.0] * 9], [150.0] * 10, 0.1) is not None


def test_a_second_in_which_a_pool_fills_says_nothing() -> None:
    """From 10 to 46 in flight, as next to nothing completes any more; not so where it is arrivals that come and go."""
    fills = np.linspace(10.0, 46.0, 10)
    assert second(4.0, 64, fills, np.full(10, 2.0), 0.1) is None
    assert second(4.0, 64, fills, np.full(10, 60.0), 0.1) is not None
