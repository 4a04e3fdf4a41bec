"""Hill climbing: its Fourier component by hand, and whole courses on made throughput."""

from collections.abc import Callable

import numpy as np
import pytest

from bench.controllers.hill_climbing import HillClimbing, wave
from bench.controllers.signal import steady


def course(
    rule: HillClimbing,
    throughput: Callable[[float], float],
    samples: int,
    start: int = 20,
    cpu: float = 0.0,
    at_s: float = 0.0,
    cores: float = 2.0,
) -> list[int]:
    """Sizes after each 100 ms in which a pool of the last one completed ``throughput(size)`` a second."""
    sizes = [start]
    for index in range(samples):
        per_s = throughput(sizes[-1])
        signal = steady(
            0.01, sizes[-1], per_s, size=sizes[-1], until_s=at_s + (index + 1) / 10, seconds=0.1, cpu=cpu, cores=cores
        )
        sizes.append(int(rule.update(signal)))
    return sizes[1:]


def test_the_component_of_a_known_wave() -> None:
    """Mean 12; (10 - 10i - 14 + 14i) / 4 = -1 + i. A wave twice as fast has none of it, and a constant neither."""
    assert wave(np.array([10.0, 10, 14, 14] * 3), 4) == pytest.approx((-1 + 1j) / 12)
    assert abs(wave(np.array([10.0, 14] * 8), 4)) == pytest.approx(0)
    assert abs(wave(np.full(8, 7.0), 4)) == pytest.approx(0)
    turns = 2 * np.pi * np.arange(16) / 16
    assert abs(wave(5 + np.cos(5 * turns), 16 / 5)) == pytest.approx(0.5 / 5)


def test_it_waves_by_one_thread_at_first_and_moves_by_what_comes_back() -> None:
    """Counts 20, 20, 21, 21 in turns; each thread brings 80 a second more. The ninth sample has eight after the first.

    ratio = (80 / 2040) / (1 / 20.5) - 0.15 = 0.654 in phase and without noise: c grows by 0.654^2 * 4 * 0.1 = 0.171.
    """
    rule = HillClimbing()
    assert course(rule, lambda n: 2000 + 80 * (n - 20), 8) == [20, 21, 21, 20, 20, 21, 21, 20]
    assert rule.centre == 20
    rule.update(steady(0.01, 20, 2000, size=20, until_s=0.9, seconds=0.1))
    assert rule.centre == pytest.approx(20 + ((80 / 2040) / (1 / 20.5) - 0.15) ** 2 * 0.4)
    assert rule.centre == pytest.approx(20.171, abs=1e-3)


def test_throughput_against_the_wave_moves_down_and_is_clipped() -> None:
    """200 a second less with each thread: ratio = (-200 / 1900) / (1 / 20.5) - 0.15 = -2.3, clipped to -1: - 0.4."""
    rule = HillClimbing()
    course(rule, lambda n: 2000 - 200 * (n - 20), 9)
    assert rule.centre == pytest.approx(20 - 0.4)


def test_no_growth_above_95_percent_of_the_cpu() -> None:
    rule = HillClimbing()
    course(rule, lambda n: 2000 + 80 * (n - 20), 60, cpu=0.96)
    assert rule.centre == 20
    course(rule, lambda n: 2000 - 200 * (n - 20), 60, cpu=0.96, at_s=6.0)
    assert rule.centre < 20


@pytest.mark.parametrize("start", [4, 35])
def test_it_climbs_a_concave_curve_to_where_a_thread_gains_15_percent(start: int) -> None:
    """x = 25 n (40 - n) has its top at 20. d ln x / d ln n = (40 - 2 n) / (40 - n) = 0.15 at 34 / 1.85 = 18.4.

    18 threads complete 18 * 22 / (20 * 20) = 99 % of the top.
    """
    rule = HillClimbing()
    sizes = course(rule, lambda n: 25 * n * (40 - n), 1200, start)
    assert 17 <= min(sizes[-100:]) <= max(sizes[-100:]) <= 20


def test_noise_gives_small_moves_and_a_higher_wave() -> None:
    """Throughput that has nothing to do with the threads, 20 % of noise: 0.4 threads a sample would be 240 in 600."""
    rule, noise, centres = HillClimbing(), np.random.default_rng(7), [20.0]
    size = 20
    for index in range(600):
        per_s = 2000 * float(1 + 0.2 * noise.standard_normal())
        size = int(rule.update(steady(0.01, size, per_s, size=size, until_s=(index + 1) / 10, seconds=0.1)))
        assert rule.centre is not None
        centres.append(rule.centre)
    moves = np.abs(np.diff(centres))
    assert moves.max() <= 0.4
    assert moves.mean() < 0.1
    assert rule.noise > 0.02
    assert abs(centres[-1] - 20) < 15


def test_a_sample_is_lengthened_until_its_count_is_good_to_15_percent() -> None:
    """(20 - 1) / 30 = 0.63, / 90 = 0.21, / 130 = 0.146: the fourth window ends the sample."""
    rule = HillClimbing()
    done = [30, 30, 30, 30, 40]  # the first ends a sample whatever it counts
    for index, completions in enumerate(done):
        before = rule._samples
        rule.update(steady(0.01, 20, completions * 10, size=20, until_s=(index + 1) / 10, seconds=0.1))
        assert (rule._samples > before) == (index in (0, 4))
    assert rule._throughput[-1] == pytest.approx(130 / 0.4)


def test_time_without_completions_counts() -> None:
    """A window without any is never handed over: 200 in the 0.3 s since the last one."""
    rule = HillClimbing()
    rule.update(steady(0.01, 20, 2000, size=20, until_s=0.1, seconds=0.1))
    rule.update(steady(0.01, 20, 2000, size=20, until_s=0.4, seconds=0.1))
    assert rule._throughput[-1] == pytest.approx(200 / 0.3)


def test_at_its_lowest_it_waits_up_to_ten_times_as_long_before_it_tries_more() -> None:
    """Each thread halves the throughput: it ends at 1 and tries 2 now and then; samples at 1 take up to a second."""
    rule = HillClimbing()
    sizes = course(rule, lambda n: 2000 / 2**n, 600, start=4, cores=1.0)
    assert rule.centre == 1
    assert set(sizes[-200:]) == {1, 2}
    assert np.mean(np.array(sizes[-200:]) == 1) > 0.7


def test_its_lowest_is_the_number_of_cores() -> None:
    rule = HillClimbing()
    assert set(course(rule, lambda n: 4000 / 2**n, 600, start=2, cores=3.5)[-200:]) == {4, 5}
    rule.rescale(2.0)
    assert rule.lowest == 8


def test_a_new_capacity_scales_the_centre_and_forgets_the_samples() -> None:
    rule = HillClimbing()
    course(rule, lambda n: 2000.0, 8)
    rule.rescale(2.0)
    assert rule.limit == rule.centre == 40
    assert course(rule, lambda n: 4000.0, 8, start=40, at_s=1.0) == [40, 41, 41, 40, 40, 41, 41, 40]
