"""Drift: how often it is seen where there is none, and how soon where there is one."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from humps import draw_samples, draw_service, samples_of
from sluice.pools.estimate import Estimate, Samples, State
from sluice.pools.estimate.drift import NEWEST_MS, Shift, find_shift
from sluice.pools.estimate.memory import Rates, remember

STARTS = 100 * np.arange(600)
WITHIN_S = NEWEST_MS // 1000


def rates(samples: Samples) -> Rates:
    return remember(Estimate(State.PROVIDED, (), 1, 1, 1), samples, 0, "scg", 1.0, 100).rates


def after(old: Samples, new: Samples, seconds: int) -> Samples:
    """A window whose last `seconds` are of the new service."""
    k = len(old) - 10 * seconds
    names = ("concurrency", "goodput_per_s", "throughput_per_s", "completions", "limit")
    return Samples(*(np.concatenate((getattr(old, n)[:k], getattr(new, n)[k:])) for n in names), 1, True)


def flat(throughput: float, n: int = 600) -> Samples:
    x = np.tile([1.0, 2.0, 3.0], n // 3)
    return samples_of(x, throughput * x)


def test_worked_by_hand() -> None:
    """10/s per request in flight become 7/s in the last 20 s: 30 % less, from second 40 on."""
    shift = find_shift(after(flat(10), flat(7), 20), STARTS, rates(flat(10)))
    assert shift is not None
    assert round(shift.change, 6) == -0.3
    assert shift.since_ms == 40_000


def test_a_curve_from_yesterday_is_contradicted_by_a_whole_window() -> None:
    shift = find_shift(flat(7), STARTS, rates(flat(10)))
    assert shift is not None
    assert shift.since_ms == 0


def test_too_little_says_nothing() -> None:
    then = rates(flat(10))
    few = flat(5).take(np.arange(600) < 110)  # 11 blocks
    assert find_shift(few, STARTS[:110], then) is None
    beyond = samples_of(np.full(600, 9.0), np.full(600, 1.0))
    assert find_shift(beyond, STARTS, then) is None  # 9 in flight were never seen


def test_less_than_15_percent_is_left_to_the_window() -> None:
    assert find_shift(flat(8.6), STARTS, rates(flat(10))) is None


def test_false_alarms_stay_under_one_in_500_comparisons() -> None:
    """0 of 1,200 when written; the limit is what 3 of 1,200 would break. A period of 5 s is a comparison."""
    rng = np.random.default_rng(11)
    alarms = 0
    for _ in range(300):
        service = draw_service(rng)
        highest = 3.0 * service.best()
        then = rates(draw_samples(rng, service, highest))
        alarms += sum(find_shift(draw_samples(rng, service, highest), STARTS, then) is not None for _ in range(4))
    assert alarms <= 2


def test_requests_that_take_half_as_long_again_are_seen_within_the_newest_stretch() -> None:
    rng = np.random.default_rng(12)
    errors_s = []
    for _ in range(200):
        service = draw_service(rng)
        highest = 3.0 * service.best()
        then, old = (draw_samples(rng, service, highest) for _ in range(2))
        new = draw_samples(rng, replace(service, rate=service.rate / 1.5), highest)
        shift = find_shift(after(old, new, WITHIN_S), STARTS, rates(then))
        assert shift is not None
        assert -0.45 < shift.change < -0.2
        errors_s.append(shift.since_ms / 1000 - (60 - WITHIN_S))
    assert abs(float(np.median(errors_s))) <= 1
    assert float(np.quantile(np.abs(errors_s), 0.9)) <= 4


@given(st.permutations(list(range(60))))
def test_the_order_of_the_buckets_does_not_matter(order: list[int]) -> None:
    samples, then = after(flat(10), flat(6), 20), rates(flat(10))
    mixed = np.concatenate([np.arange(10) + 10 * i for i in order])
    assert close(find_shift(samples.take(mixed), STARTS[mixed], then), find_shift(samples, STARTS, then))


def close(a: Shift | None, b: Shift | None) -> bool:
    return a is not None and b is not None and a.since_ms == b.since_ms and abs(a.change - b.change) < 1e-9
