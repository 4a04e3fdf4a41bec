"""The limiters' rules, worked out by hand, and their bounds under whatever they see."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.controllers.aimd import Aimd
from bench.controllers.average import Average
from bench.controllers.correlated import Correlated, correlation
from bench.controllers.gradient2 import Gradient2
from bench.controllers.rivals import RIVALS, rows
from bench.controllers.signal import Rule, Signal, steady
from bench.controllers.vegas import Vegas, step

HIGHEST = {"vegas": 1000, "envoy gradient": 1000}


def signal(
    rtt_ms: float,
    inflight: float,
    throughput: float = 400.0,
    dropped: bool = False,
    until_s: float = 1.0,
    size: int = 20,
) -> Signal:
    return steady(rtt_ms / 1e3, inflight, throughput, size=size, dropped=dropped, until_s=until_s)


def test_an_average_is_plain_for_ten_values_and_then_exponential() -> None:
    """1 to 10 mean 5.5; over 4 windows the next one counts 2 / 5: 5.5 + 0.4 * 5 = 7.5."""
    average = Average(4)
    assert [average.add(value) for value in range(1, 11)][-1] == 5.5
    assert average.add(10.5) == pytest.approx(7.5)


def test_gradient2_starts_with_gradient_one() -> None:
    """long = short, so 1.5 is clamped to 1: 0.8 * 20 + 0.2 * (20 + 4) = 20.8."""
    assert Gradient2().update(signal(20, 20)) == pytest.approx(20.8)


def test_gradient2_falls_by_at_most_half_the_limit_and_the_smoothing() -> None:
    """The second of ten windows of warm-up: long = (20 + 180) / 2 = 100 ms, 1.5 * 100 / 180 = 0.8333."""
    rule = Gradient2()
    rule.update(signal(20, 20))
    assert rule.update(signal(180, 20.8)) == pytest.approx(0.8 * 20.8 + 0.2 * (20.8 * 1.5 * 100 / 180 + 4))


def test_gradient2_recovers_its_long_average_after_an_overload() -> None:
    """Two windows, 180 and 20 ms: long = 100 ms, five times short, so 95 ms; its limit of 20.8 holds with 10 in use."""
    rule = Gradient2()
    rule.update(signal(180, 20))
    assert rule.update(signal(20, 10)) == pytest.approx(20.8)
    assert rule.long.value == pytest.approx(0.095)


@pytest.mark.parametrize(
    ("rtt_ms", "inflight", "dropped", "limit"),
    [
        (20.5, 20, False, 26),  # queue ceil(20 * 0.0244) = 1 <= 1: + 6
        (22, 20, False, 21),  # ceil(20 * 0.0909) = 2 < 3: + 1
        (25, 20, False, 20),  # ceil(20 * 0.2) = 4: hold
        (40, 20, False, 19),  # ceil(20 * 0.5) = 10 > 6: - 1
        (20.5, 9, False, 20),  # less than half full
        (20.5, 20, True, 19),  # a drop
    ],
)
def test_vegas_by_its_queue(rtt_ms: float, inflight: float, dropped: bool, limit: float) -> None:
    rule = Vegas()
    assert rule.update(signal(20, 20)) == 20  # sets rtt0
    assert rule.update(signal(rtt_ms, inflight, dropped=dropped)) == limit


def test_vegas_takes_a_new_shortest_time_after_15_to_30_limits_of_windows() -> None:
    """At a limit of 1, with 0.75 drawn: the 23rd window is the first after 22.5, and its 25 ms replace 20 ms."""

    class Draws(random.Random):
        def uniform(self, a: float, b: float) -> float:
            return (a + b) / 2

    rule = Vegas(limit=1.0, random=Draws())
    rule.update(signal(20, 0.1))
    for _ in range(21):
        rule.update(signal(25, 0.1))
    assert rule.rtt0_s == pytest.approx(0.020)
    rule.update(signal(25, 0.1))
    assert rule.rtt0_s == pytest.approx(0.025)


def test_vegas_steps_by_whole_logarithms() -> None:
    assert [step(limit) for limit in (1, 9, 99, 100, 1000)] == [1, 1, 1, 2, 3]


@pytest.mark.parametrize(
    ("rtt_ms", "inflight", "dropped", "limits"),
    [
        (300, 20, False, [18, 16]),  # 16.2, rounded down
        (100, 10, False, [21, 21]),
        (100, 9, False, [20, 20]),
        (100, 20, True, [18, 16]),
    ],
)
def test_aimd(rtt_ms: float, inflight: float, dropped: bool, limits: list[float]) -> None:
    rule = Aimd()
    assert [rule.update(signal(rtt_ms, inflight, dropped=dropped)) for _ in limits] == limits


def test_correlated_grows_without_a_queue_full_or_not() -> None:
    """recent = baseline: queue 0; l = floor(log10 20) = 1. From 100 on l = 2."""
    assert Correlated().update(signal(25, 20)) == 21
    assert Correlated().update(signal(25, 5)) == 21
    assert Correlated(limit=100.0).update(signal(25, 50)) == 102


def test_correlated_stops_at_five_times_what_is_in_flight_and_comes_down_to_it_in_steps() -> None:
    assert Correlated(limit=20.0).update(signal(25, 3)) == 19
    assert Correlated(limit=14.5).update(signal(25, 3)) == 15


def test_correlated_waits_for_a_second_and_fifty_samples() -> None:
    """20 a second: a limit at the first 50, after 3 s; then 300 in half a second are too early."""
    rule = Correlated()
    limits = [rule.update(signal(25, 20, 20.0, until_s=at)) for at in (1.0, 2.0, 3.0)]
    assert limits == [20, 20, 21]
    assert rule.update(signal(25, 20, 300.0, until_s=3.5)) == 21
    assert rule.update(signal(25, 20, 300.0, until_s=4.0)) == 22


def test_correlated_takes_the_median_of_five_windows() -> None:
    """Four as they are: 10, 10, 10, 10 ms mean 10; 90 is the fifth, but the median of the five is 10."""
    rule = Correlated()
    for at in range(1, 6):
        rule.update(signal(90 if at == 5 else 10, 20, until_s=float(at)))
    assert rule.recent.value == pytest.approx(0.010)


def test_correlated_shrinks_when_a_full_pool_gains_nothing_from_more_in_flight() -> None:
    """Ten windows with 11 to 20 in flight, recent times in proportion to their squares: n / r falls as 1 / n.

    recent is then 120 ms above 100 ms of baseline and more, a queue under 6; corr(n, n / r) < 0 tells.
    """

    def after(throughput_falls: bool) -> tuple[float, float]:
        rule = Correlated(limit=30.0)
        for index in range(10):
            n = 11 + index
            rule.recent.add = lambda _, n=n: n * n / 4000 if throughput_falls else 0.1  # type: ignore[method-assign]
            rule.baseline.add = lambda value: value  # type: ignore[method-assign]
            before = rule.limit
            rule.update(signal(25, n, until_s=float(index + 1), size=n))
        return before, rule.limit

    assert after(True) == (39, 38)
    assert after(False) == (39, 40)


def test_correlation_needs_ten_values_that_vary() -> None:
    rising = np.arange(1.0, 11.0)
    assert correlation(rising, 20 - rising) == pytest.approx(-1)
    assert correlation(rising[:9], 20 - rising[:9]) == 0
    assert correlation(rising, 100 + rising / 10) == 0  # varies by 0.3 %


def after_timeouts(rule: Rule) -> float:
    """The limit after 60 good windows and 600 that are full and a second long, none of them counted as a drop."""
    for second in range(660):
        response_s, size = 0.025 if second < 60 else 1.0, max(1, int(rule.limit))
        rule.update(steady(response_s, size, size / response_s, size=size, until_s=second + 1.0))
    return rule.limit


def test_constant_timeouts_become_the_new_normal() -> None:
    """With every window at 1 s, response time alone no longer tells; AIMD's fixed timeout does, down to 1."""
    assert after_timeouts(Aimd()) == 1
    assert after_timeouts(Gradient2()) == 200


signals = st.builds(
    lambda rtt_ms, inflight, per_s, dropped, size, gap_s, cores, cpu: (
        gap_s,
        lambda until_s: steady(
            rtt_ms / 1e3,
            inflight,
            per_s,
            size=size,
            until_s=until_s,
            seconds=gap_s,
            dropped=dropped,
            cores=cores,
            cpu=cpu,
        ),
    ),
    st.floats(0.001, 60_000),
    st.floats(0.01, 1000),
    st.floats(0.1, 5000),
    st.booleans(),
    st.integers(1, 256),
    st.sampled_from([0.1, 0.2, 1.0]),
    st.sampled_from([1.0, 2.0, 8.0]),
    st.floats(0, 1.1),
)


@settings(deadline=None)
@given(name=st.sampled_from(list(rows())), windows=st.lists(signals, min_size=1, max_size=60))
def test_every_limit_is_a_number_in_its_range(
    name: str, windows: list[tuple[float, Callable[[float], Signal]]]
) -> None:
    rule: Rule = rows()[name]()
    until_s, updated = 0.0, False
    for gap_s, window in windows:
        until_s += gap_s
        limit = rule.update(window(until_s))
        assert math.isfinite(limit)
        assert 1 <= limit <= max(256, HIGHEST.get(name.split(" (")[0], 200))
        assert 1 <= rule.limit <= HIGHEST.get(name.split(" (")[0], 256)
        updated = updated or limit == rule.limit
    assert rule.enough >= 1
    assert rule.period_s > 0


@pytest.mark.parametrize("name", list(RIVALS))
def test_a_rescaled_limit_stays_in_its_range(name: str) -> None:
    """Twelve doublings are a factor of 4,096, and as many halvings."""
    for factor in (2.0, 0.5):
        rule = RIVALS[name]()
        for second in range(12):
            rule.update(steady(0.01, 10, 100, size=10, until_s=float(second + 1)))
            rule.rescale(factor)
        assert 1 <= rule.limit <= HIGHEST.get(name, 200)
