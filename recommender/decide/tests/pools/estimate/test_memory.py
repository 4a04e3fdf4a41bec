"""Priors from remembered curves."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humps import samples_of
from sluice.pools.estimate import Estimate, Scg, State
from sluice.pools.estimate.memory import (
    Carried,
    Footing,
    Kind,
    Rates,
    Remembered,
    carried_over,
    prior_for,
    remember,
)

ONE, TWO, HALF = Footing(1.0), Footing(2.0), Footing(0.5)
NOTHING = np.empty(0)


def found(target: int, at_ms: int = 0, threshold_ms: float = 100.0) -> Remembered:
    rates = Rates(NOTHING, NOTHING, NOTHING, NOTHING)
    return Remembered(at_ms, target, target - 1, target + 1, "scg", threshold_ms, 100, rates)


def prior(entries: dict[Footing, Remembered], footing: Footing, threshold_ms: float = 100.0) -> tuple[Kind, int] | None:
    seen = prior_for(entries, footing, threshold_ms)
    return None if seen is None else (seen.kind, seen.target)


def test_the_same_footing_comes_first_else_the_cpu_limit_scales() -> None:
    assert prior({ONE: found(12), TWO: found(30)}, TWO) == (Kind.SAME, 30)
    assert prior({ONE: found(12)}, TWO) == (Kind.SCALED, 24)
    assert prior({ONE: found(13)}, HALF) == (Kind.SCALED, 7)  # 6.5
    assert prior({}, TWO) is None


def test_of_several_the_same_version_and_then_the_newest() -> None:
    entries = {
        Footing(1.0, "a"): found(10, at_ms=1),
        Footing(2.0, "b"): found(30, at_ms=9),
        Footing(3.0, "b"): found(40, at_ms=8),
    }
    assert prior(entries, Footing(4.0, "a")) == (Kind.SCALED, 40)
    assert prior(entries, Footing(4.0, "b")) == (Kind.SCALED, 60)
    assert prior(entries, Footing(2.0, "c")) == (Kind.SCALED, 30)  # another release, the same CPU


def test_a_client_pool_follows_its_peer() -> None:
    entries = {Footing(1.0, "", 2.0): found(8)}
    assert prior(entries, Footing(1.0, "", 4.0)) == (Kind.SCALED, 16)
    assert prior(entries, Footing(3.0, "", 4.0)) == (Kind.SCALED, 16)
    assert prior(entries, Footing(3.0, "", 2.0)) == (Kind.SCALED, 24)


def test_nothing_is_scaled_from_or_to_a_limit_that_nobody_told() -> None:
    assert prior({Footing(): found(12)}, TWO) is None
    assert prior({TWO: found(12)}, Footing()) is None
    assert prior({Footing(): found(12)}, Footing()) == (Kind.SAME, 12)


def test_a_curve_judged_by_another_threshold_says_nothing() -> None:
    assert prior({ONE: found(12, threshold_ms=250)}, ONE, threshold_ms=150) is None
    assert prior({ONE: found(12, threshold_ms=250)}, ONE, threshold_ms=240) == (Kind.SAME, 12)


@given(st.integers(1, 500), st.floats(0.1, 64), st.floats(0.1, 64))
def test_more_cpu_never_scales_down(target: int, before: float, now: float) -> None:
    seen = prior({Footing(before): found(target)}, Footing(now))
    assert seen is not None
    assert seen[1] >= 1
    assert (seen[1] >= target) if now >= before else (seen[1] <= target)


FOUR, TWELVE = Footing(4.0), Footing(12.0)


def test_a_size_is_carried_over_in_proportion_at_most_twice_and_not_down() -> None:
    assert carried_over([(TWO, 5)], FOUR) == Carried(10, 5, TWO, here=False)
    assert carried_over([(TWO, 5)], Footing(3.0)) == Carried(8, 5, TWO, here=False)  # 7.5
    assert carried_over([(TWO, 5)], TWELVE) == Carried(10, 5, TWO, here=False)
    assert carried_over([(TWO, 5)], ONE) is None
    assert carried_over([], FOUR) is None


def test_back_on_a_footing_its_last_size_counts_in_both_directions() -> None:
    assert carried_over([(TWO, 5), (FOUR, 10)], TWO) == Carried(5, 5, TWO, here=True)
    assert carried_over([(TWO, 5), (FOUR, 10), (TWO, 6)], FOUR) == Carried(10, 10, FOUR, here=True)
    assert carried_over([(TWO, 5), (FOUR, 10), (TWO, 6), (FOUR, 11)], TWO) == Carried(6, 6, TWO, here=True)


def test_nothing_is_carried_over_without_a_cpu_limit() -> None:
    assert carried_over([(Footing(), 5)], FOUR) is None
    assert carried_over([(TWO, 5)], Footing()) is None
    assert carried_over([(TWO, 5)], Footing(2.0, "b")) is None  # another release, the same CPU


@given(st.lists(st.tuples(st.sampled_from([ONE, TWO, FOUR, TWELVE]), st.integers(1, 500)), max_size=6))
def test_a_carried_size_is_one_that_stood_or_grows_to_twice_the_last_at_most(left: list[tuple[Footing, int]]) -> None:
    carried = carried_over(left, FOUR)
    if carried is not None and carried.here:
        assert (carried.footing, carried.size) in left
    elif carried is not None:
        assert left[-1][1] <= carried.size <= 2 * left[-1][1]


def test_what_is_kept_is_the_estimate_and_its_rates_without_full_buckets() -> None:
    x = np.tile([1.0, 2.0, 10.0], 5)
    samples = replace(samples_of(x, 10 * x, limit=10.0), throughput_per_s=20 * x)
    kept = remember(Estimate(State.PROVIDED, (), 12, 10, 15), samples, 7, "scg", 150.0, 100)
    assert (kept.at_ms, kept.target, kept.lower_bound, kept.upper_bound) == (7, 12, 10, 15)
    assert kept.rates.concurrency.tolist() == [1, 2]
    assert kept.rates.goodput_per_s.tolist() == [10, 20]
    assert kept.rates.throughput_per_s.tolist() == [20, 40]
    assert kept.rates.count.tolist() == [5, 5]
    with pytest.raises(ValueError, match="state NO_DATA: legal: PROVIDED"):
        remember(Scg().estimate(None), samples, 7, "scg", 150.0, 100)
