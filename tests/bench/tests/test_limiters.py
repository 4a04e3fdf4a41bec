"""The limiters' rules, worked out by hand, and their bounds under whatever they see."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.controllers.aimd import Aimd
from bench.controllers.correlated import Correlated, correlation
from bench.controllers.gradient2 import Gradient2
from bench.controllers.signal import Rule, Signal
from bench.controllers.vegas import Vegas, step
from bench.race import after_timeouts

RULES: list[Callable[[], Rule]] = [Gradient2, Vegas, Correlated, lambda: Aimd(timeout_s=0.25)]


def seen(rtt_ms: float, inflight: float, throughput: float = 400.0, dropped: bool = False) -> Signal:
    return Signal(400, rtt_ms / 1e3, rtt_ms / 1e3, inflight, throughput, dropped)


def test_gradient2_starts_with_gradient_one() -> None:
    """long = short, so 1.5 is clamped to 1: 0.8 * 20 + 0.2 * (20 + 4) = 20.8."""
    assert Gradient2().update(seen(20, 20)) == pytest.approx(20.8)


def test_gradient2_falls_by_at_most_half_the_limit_and_the_smoothing() -> None:
    """The second of ten windows of warm-up: long = (20 + 180) / 2 = 100 ms, 1.5 * 100 / 180 = 0.8333."""
    rule = Gradient2()
    rule.update(seen(20, 20))
    assert rule.update(seen(180, 20.8)) == pytest.approx(0.8 * 20.8 + 0.2 * (20.8 * 1.5 * 100 / 180 + 4))


def test_gradient2_recovers_its_long_average_after_an_overload() -> None:
    """Two windows, 180 and 20 ms: long = 100 ms, five times short, so 95 ms; its limit of 20.8 holds with 10 in use."""
    rule = Gradient2()
    rule.update(seen(180, 20))
    assert rule.update(seen(20, 10)) == pytest.approx(20.8)
    assert rule.long_s == pytest.approx(0.095)


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
    assert rule.update(seen(20, 20)) == 20  # sets rtt0
    assert rule.update(seen(rtt_ms, inflight, dropped=dropped)) == limit


def test_vegas_takes_a_new_shortest_time_after_30_limits_of_windows() -> None:
    """At a limit of 1: the 30th window probes, and 25 ms replaces the 20 ms of the first."""
    rule = Vegas(limit=1.0, random=random.Random(1))
    rule.update(seen(20, 0.1))
    for _ in range(28):
        rule.update(seen(25, 0.1))
    assert rule.rtt0_s == 0.020
    rule.update(seen(25, 0.1))
    assert rule.rtt0_s == 0.025


def test_vegas_steps_by_whole_logarithms() -> None:
    assert [step(limit) for limit in (1, 9, 99, 100, 1000)] == [1, 1, 1, 2, 3]


@pytest.mark.parametrize(
    ("rtt_ms", "inflight", "dropped", "limit"),
    [(300, 20, False, 18), (100, 10, False, 21), (100, 9, False, 20), (100, 20, True, 18)],
)
def test_aimd(rtt_ms: float, inflight: float, dropped: bool, limit: float) -> None:
    assert Aimd(timeout_s=0.25).update(seen(rtt_ms, inflight, dropped=dropped)) == pytest.approx(limit)


def test_correlated_grows_when_full_and_without_a_queue() -> None:
    """recent = baseline: queue 0; l = log10(20) = 1.301."""
    assert Correlated().update(seen(25, 20)) == pytest.approx(21.301, abs=1e-3)
    assert Correlated().update(seen(25, 15)) == 20  # not full


def test_correlated_never_exceeds_five_times_what_is_in_flight() -> None:
    assert Correlated().update(seen(25, 3)) == 15


def test_correlated_shrinks_when_more_in_flight_completes_less() -> None:
    """Response times stay, so there is no queue: only the fall of throughput with the number in flight tells."""
    rule = Correlated()
    for inflight, throughput in ((16, 500), (17, 480), (18, 460), (19, 440)):
        rule.update(seen(25, inflight, throughput))
    assert rule.limit == 20
    assert rule.update(seen(25, 20, 420)) == pytest.approx(20 - 1.301, abs=1e-3)


def test_correlation() -> None:
    rising = np.array([1.0, 2.0, 3.0])
    assert correlation(rising, -rising) == pytest.approx(-1)
    assert correlation(rising, np.ones(3)) == 0


def test_constant_timeouts_become_the_new_normal() -> None:
    """With every window at 1 s, response time alone no longer tells; AIMD's fixed timeout does, down to 1."""
    assert after_timeouts(Aimd(timeout_s=0.25)) == 1
    assert after_timeouts(Correlated()) > 20


@settings(deadline=None)
@given(
    which=st.integers(0, len(RULES) - 1),
    windows=st.lists(
        st.tuples(st.floats(0.1, 60_000), st.floats(0.01, 1000), st.floats(0.1, 5000), st.booleans()),
        min_size=1,
        max_size=60,
    ),
)
def test_every_limit_stays_in_its_range(which: int, windows: list[tuple[float, float, float, bool]]) -> None:
    rule = RULES[which]()
    for window in windows:
        assert 1 <= rule.update(seen(*window)) <= (1000 if isinstance(rule, Vegas) else 200)
