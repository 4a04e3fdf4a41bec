"""Whether a step of exploration gained anything, and what is proposed then."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humps import samples_of
from sluice.control.trials import Trials, Verdict
from sluice.core.keys import PoolKey
from sluice.pools.estimate import Samples
from sluice.pools.guard.situation import Lost
from sluice.pools.guard.trial import Sight, about, gained, gained_early, lost, under_demand

KEY = PoolKey("cart", "server", "")
WINDOW = 60_000


@pytest.mark.parametrize(("after", "better"), [(120, True), (108, False), (110, False), (80, False)])
def test_more_than_noise_is_a_gain(after: float, better: bool) -> None:
    assert gained(Sight(100, 3), Sight(after, 4)) is better  # two standard errors of the difference: 10


def test_a_service_that_gives_nothing_gains_nothing() -> None:
    assert not gained(Sight(0, 0), Sight(0, 0))


def full(goodput: float, size: float, buckets: int = 100) -> Samples:
    """Half of the buckets at the size, the others nearly idle."""
    x = np.tile([1.0, size], buckets // 2)
    return samples_of(x, np.where(x > 1, goodput, 5.0), limit=size)


def test_only_buckets_under_demand_are_compared() -> None:
    assert under_demand(full(100, 8), 8) == Sight(100, 0)
    assert under_demand(full(100, 8, buckets=38), 8) is None  # 19 of them
    assert under_demand(None, 8) is None


def test_a_step_is_judged_by_what_the_larger_pool_does_when_it_is_full() -> None:
    """100/s when 8 were full. Then half of the buckets at 8 complete 90/s, as few slow requests do, and 10 are full at
    120/s: right. Were the buckets at 8 counted, 105/s on average would be no gain."""
    steps = Trials()
    steps.began(KEY, 8, 10, full(100, 8), 0)
    x = np.tile([8.0, 10.0], 50)
    seen = samples_of(x, np.where(x > 9, 120.0, 90.0), limit=10)
    assert steps.judge(KEY, 10, WINDOW, WINDOW, seen, 1) == Verdict(stands_ms=0, gained=1)
    never_full = replace(full(90, 8), limit=np.full(100, 10.0))
    steps.began(KEY, 8, 10, full(100, 8), 0)
    assert steps.judge(KEY, 10, WINDOW, WINDOW, never_full, 2) == Verdict(stands_ms=0)


def noisy(rate: float, size: int, buckets: int = 400) -> Samples:
    """Always full, at `rate` on average: a standard deviation of 20/s, so an error of 1/s of 400 buckets."""
    return samples_of(np.full(buckets, float(size)), rate + np.tile([-20.0, 20.0], buckets // 2), limit=size)


@pytest.mark.parametrize(
    ("before", "after", "known"), [(100, 110, True), (100, 105, True), (100, 103, None), (100, 99, False)]
)
def test_within_the_window_an_answer_has_to_be_clear(before: float, after: float, known: bool | None) -> None:
    """Three standard errors of the difference: 3 * 1.41 = 4.2; worth a step: 5."""
    assert gained_early(Sight(before, 1), Sight(after, 1)) is known


def test_a_small_gain_is_none_however_sure() -> None:
    assert not gained(Sight(100, 0.1), Sight(104, 0.1))
    assert gained(Sight(100, 0.1), Sight(105, 0.1))
    assert not gained(Sight(100, 0), Sight(100, 0))
    assert gained_early(Sight(100, 0.1), Sight(104, 0.1)) is False


@given(st.floats(1, 1e4), st.floats(0, 1e4), st.floats(0, 100), st.floats(0, 100))
def test_early_never_contradicts_the_window(before: float, after: float, e: float, f: float) -> None:
    early = gained_early(Sight(before, e), Sight(after, f))
    if early is not None:
        assert early is gained(Sight(before, e), Sight(after, f))


@pytest.mark.parametrize(("after", "verdict"), [(110, Verdict(stands_ms=0, gained=1)), (99, Verdict(8, 2))])
def test_a_clear_answer_is_given_before_the_window_is_over(after: float, verdict: Verdict) -> None:
    """Buckets from before the step do not count."""
    steps = Trials()
    steps.began(KEY, 8, 10, noisy(100, 8), 0)
    mixed = joined(noisy(100, 8), noisy(after, 10))
    assert steps.judge(KEY, 10, 9_999, WINDOW, mixed, 1) == Verdict(stands_ms=0)
    assert steps.judge(KEY, 10, 10_000, WINDOW, mixed, 2) == verdict
    steps.began(KEY, 10, 13, noisy(after, 10), 3)
    assert not steps.judge(KEY, 13, 0, WINDOW, mixed, 4).gained


def joined(one: Samples, other: Samples) -> Samples:
    def both(name: str) -> np.ndarray:
        return np.concatenate((getattr(one, name), getattr(other, name)))

    names = ("concurrency", "goodput_per_s", "throughput_per_s", "completions", "limit")
    return Samples(*map(both, names), 1, True)


def judged(after: float) -> list[Verdict]:
    steps = Trials()
    steps.began(KEY, 8, 10, full(100, 8), 0)
    verdicts = [steps.judge(KEY, 8, 0, WINDOW, full(100, 8), 1)]  # not applied yet
    verdicts.append(steps.judge(KEY, 10, WINDOW - 1, WINDOW, full(after, 10), 2))  # older buckets are of 8
    verdicts.append(steps.judge(KEY, 10, WINDOW, WINDOW, full(after, 10), 3))
    verdicts.append(steps.judge(KEY, 10, WINDOW + 1, WINDOW, full(200, 10), 4))
    verdicts.append(steps.judge(KEY, 8, 0, WINDOW, None, 5))
    return verdicts


def test_a_step_without_gain_is_taken_back_until_it_is() -> None:
    assert judged(100) == [Verdict(), *[Verdict(8, 2)] * 3, Verdict(None, 2)]


def test_what_is_not_clear_is_decided_when_the_window_is_over() -> None:
    steps = Trials()
    steps.began(KEY, 8, 10, noisy(100, 8), 0)
    assert steps.judge(KEY, 10, WINDOW - 1, WINDOW, noisy(103, 10), 1) == Verdict(stands_ms=0)
    assert steps.judge(KEY, 10, WINDOW, WINDOW, noisy(103, 10), 2) == Verdict(8, 2)


def test_a_step_with_a_gain_stays() -> None:
    assert judged(125) == [Verdict(), *[Verdict(stands_ms=0, gained=1)] * 3, Verdict()]


def test_somebody_else_resized() -> None:
    steps = Trials()
    steps.began(KEY, 8, 10, full(100, 8), 0)
    assert steps.judge(KEY, 20, WINDOW, WINDOW, full(100, 20), 1) == Verdict()
    assert steps.judge(KEY, 10, WINDOW, WINDOW, full(100, 10), 1) == Verdict(stands_ms=0)


def test_of_a_change_of_load_only_what_came_after_it_is_compared() -> None:
    """The size was full at 100/s, then requests became heavier: 50/s. 60/s at the next size are a gain."""
    changed = replace(joined(noisy(100, 8), noisy(50, 8)), start_ms=np.arange(800) * 100)
    seen = under_demand(changed, 8)
    assert seen is not None
    assert seen.throughput_per_s == 50
    steps = Trials()
    steps.began(KEY, 8, 10, changed, 0)
    assert steps.judge(KEY, 10, WINDOW, WINDOW, noisy(60, 10), 1).gained == 1


def test_a_step_down_is_followed_or_taken_back_as_one_up_is() -> None:
    steps = Trials()
    steps.began(KEY, 60, 30, noisy(900, 60), 0)
    assert steps.judge(KEY, 30, 10_000, WINDOW, noisy(1200, 30), 1) == Verdict(stands_ms=0, gained=-1)
    steps.began(KEY, 30, 15, noisy(1200, 30), 2)
    assert steps.judge(KEY, 15, 10_000, WINDOW, noisy(1100, 15), 3) == Verdict(30, failed_down_ms=3)
    assert steps.judge(KEY, 30, 0, WINDOW, None, 4) == Verdict(failed_down_ms=3)


@pytest.mark.parametrize(("after", "worse"), [(80, True), (92, False), (89, True), (120, False)])
def test_a_loss_is_more_than_noise_and_than_a_tenth(after: float, worse: bool) -> None:
    assert lost(Sight(100, 3), Sight(after, 4), 2.0) is worse  # noise explains 10
    assert not lost(Sight(100, 30), Sight(after, 40), 2.0)


def test_a_size_that_a_curve_named_is_taken_back_when_it_loses() -> None:
    """With 2 to 3 of 10 in flight 100/s completed; the pool of 2 completes 60/s when it is full."""
    steps = Trials()
    steps.shrank(KEY, 10, 2, noisy(100, 3))
    assert steps.judge(KEY, 10, 0, WINDOW, noisy(100, 5), 1) == Verdict()
    assert steps.judge(KEY, 2, 9_999, WINDOW, noisy(60, 2), 2) == Verdict()
    back = steps.judge(KEY, 2, 10_000, WINDOW, noisy(60, 2), 3)
    assert back == Verdict(10, lost=Lost(10, 2, 3))
    assert steps.judge(KEY, 2, 15_000, WINDOW, noisy(100, 2), 4) == back  # once is enough
    assert steps.judge(KEY, 10, 0, WINDOW, None, 5) == Verdict(lost=Lost(10, 2, 3))
    steps.forget(KEY)
    assert steps.judge(KEY, 10, 0, WINDOW, None, 6) == Verdict()


def test_a_service_that_became_another_one_ends_explorations_but_not_the_trial_of_a_shrink() -> None:
    steps = Trials()
    steps.began(KEY, 8, 10, noisy(100, 8), 0)
    steps.forget(KEY)
    assert steps.judge(KEY, 10, WINDOW, WINDOW, noisy(50, 10), 1) == Verdict()
    steps.shrank(KEY, 10, 2, noisy(100, 3))
    steps.forget(KEY)
    assert steps.judge(KEY, 2, WINDOW, WINDOW, noisy(60, 2), 2).back == 10


def test_a_size_that_a_curve_named_need_not_gain() -> None:
    steps = Trials()
    steps.shrank(KEY, 10, 2, noisy(100, 3))
    assert steps.judge(KEY, 2, 10_000, WINDOW, noisy(95, 2), 1) == Verdict()
    assert steps.judge(KEY, 2, WINDOW, WINDOW, noisy(95, 2), 2) == Verdict()
    assert steps.judge(KEY, 2, WINDOW + 1, WINDOW, noisy(60, 2), 3) == Verdict()  # it was right, and stays so


def test_a_step_that_the_guard_cut_short_is_judged_too() -> None:
    steps = Trials()
    steps.began(KEY, 60, 30, noisy(900, 60), 0)
    assert steps.judge(KEY, 44, WINDOW, WINDOW, noisy(800, 44), 1) == Verdict(60, failed_down_ms=1)


def test_what_is_about_a_size_reaches_half_as_far_again() -> None:
    """Of 10: 9 to 15 in flight."""
    x = np.repeat([8.9, 9.0, 15.0, 15.1], 20)
    seen = samples_of(x, np.repeat([1.0, 100.0, 120.0, 1.0], 20), limit=64)
    found = about(seen, 10)
    assert found is not None
    assert found.throughput_per_s == 110
    assert about(seen.take(np.arange(21, 40)), 10) is None
    assert about(None, 10) is None
