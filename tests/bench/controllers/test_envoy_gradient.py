"""Envoy's gradient controller: its update by hand, and when and on what it measures minRTT."""

import random

import numpy as np
import pytest

from bench.controllers.envoy_gradient import EnvoyGradient
from bench.controllers.signal import Signal, steady


class Middle(random.Random):
    """Draws the middle of what is asked for."""

    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2


def signal_at(rtt_ms: float, size: int, until_s: float, per_s: float = 1000.0) -> Signal:
    return steady(rtt_ms / 1e3, size, per_s, size=size, until_s=until_s, seconds=0.1)


def measured(rtt_ms: float = 10.0) -> EnvoyGradient:
    rule = EnvoyGradient(random=Middle())
    rule.update(signal_at(rtt_ms, 3, 0.1))
    assert rule.deferred is None
    return rule


def test_it_starts_at_three_and_measures_there() -> None:
    """A pool of 20 is set to 3 first; 100 requests of 10 ms in the window at 3, of which 90 began in it."""
    rule = EnvoyGradient()
    assert rule.update(signal_at(50, 20, 0.1)) == 3
    assert rule.deferred == 3
    assert rule.update(signal_at(10, 3, 0.2)) == 3
    assert (rule.deferred, rule.min_rtt_s) == (None, 0.010)


def test_requests_that_began_before_the_measuring_do_not_count() -> None:
    """100 in 0.1 s, by turns 4 and 40 ms: those of 4 ms that end after 4 ms, those of 40 ms that end after 40 ms."""
    rule = EnvoyGradient()
    window = signal_at(10, 3, 0.1)
    mixed = Signal(**{**vars(window), "durations_s": np.tile([0.004, 0.040], 50)})
    rule.update(mixed)
    counted = np.concatenate(rule._durations_s)
    ends = 0.1 * np.arange(1, 101) / 101
    assert (counted == 0.004).sum() == (ends[0::2] >= 0.004).sum() == 48
    assert (counted == 0.040).sum() == (ends[1::2] >= 0.040).sum() == 30
    assert rule.min_rtt_s == 0.004  # 48 of 78


@pytest.mark.parametrize(
    ("rtt_ms", "limit"),
    [
        (12.5, 24),  # g = 1: 20 + 4.47
        (10, 30),  # g = 1.25: 25 + 5
        (5, 46),  # g = 2.5, at most 2: 40 + 6.32
        (50, 13),  # g = 0.25, at least 0.5: 10 + 3.16
    ],
)
def test_the_limit_by_the_gradient(rtt_ms: float, limit: float) -> None:
    rule = measured()
    rule.limit = 20.0
    assert rule.update(signal_at(rtt_ms, 20, 0.2)) == limit


def test_it_measures_again_after_a_minute_and_returns_to_its_limit() -> None:
    """Measured at 0.1 s, 7.5 % drawn: due at 0.1 + 64.5 s. A slower service is then the new minRTT."""
    rule = measured()
    rule.limit = 16.0
    rule.update(signal_at(16, 16, 64.5))
    assert rule.deferred is None
    rule.limit = 16.0
    assert rule.update(signal_at(12.5, 16, 64.7)) == 3
    assert rule.deferred == 20
    assert rule.update(signal_at(20, 3, 64.8)) == 20
    assert rule.min_rtt_s == 0.020


def test_it_measures_with_fifty_requests_however_long_that_takes() -> None:
    """30 a window, of which the first loses those that began before: 1.25 * 10 ms, 27; so the second brings 57."""
    rule = EnvoyGradient()
    rule.update(signal_at(10, 3, 0.1, 300))
    assert rule.deferred == 3
    assert sum(map(len, rule._durations_s)) == 27
    rule.update(signal_at(10, 3, 0.2, 300))
    assert rule.deferred is None


def test_five_updates_at_the_floor_measure_again() -> None:
    """g = 0.5 at 3: floor(1.5 + 1.22) = 2, so 3. The limit was 3 before each of the five."""
    rule = measured()
    for index in range(5):
        assert rule.deferred is None
        assert rule.update(signal_at(100, 3, 0.2 + index / 10)) == 3
    assert rule.deferred == 3


def test_old_data_of_the_measuring_do_not_move_the_limit() -> None:
    """Data that are late: windows at 3 go on arriving when the limit is 20 again; g = 1 at the first one at 20."""
    rule = EnvoyGradient(deferred=20.0)
    assert rule.update(signal_at(10, 3, 0.1)) == 20
    assert [rule.update(signal_at(10, 3, 0.2)), rule.update(signal_at(10, 3, 0.3))] == [20, 20]
    assert rule.update(signal_at(12.5, 20, 0.4)) == 24


def test_old_data_of_before_the_measuring_are_not_measured() -> None:
    rule = EnvoyGradient()
    assert [rule.update(signal_at(50, 20, 0.1)), rule.update(signal_at(50, 20, 0.2))] == [3, 3]
    rule.update(signal_at(10, 3, 0.3))
    assert rule.min_rtt_s == pytest.approx(0.010)


def test_a_new_capacity_scales_the_limit_and_measures_anew() -> None:
    rule = measured()
    rule.limit = 20.0
    rule.rescale(2.0)
    assert (rule.limit, rule.deferred) == (3, 40)
    rule.rescale(0.5)
    assert (rule.limit, rule.deferred) == (3, 20)
