"""Open-loop arrivals, worked out from the Poisson process that they are."""

from math import sqrt

import pytest

from testbed.arrivals import OpenLoop
from testbed.mix import Mix
from testbed.worlds import World, front, wait


def arrivals(shape, rate, seconds, seed=1, service_s=0.001):
    """(time of arrival of each request that was answered, the world)."""
    world, times = World(front(wait(service_s))), []
    mix = Mix(world.application, {"GET /": 1.0})
    OpenLoop(world.application, mix, rate, shape, seed, lambda at, latency, failed: times.append(at - latency))
    world.run(seconds)
    return times


def test_counts_are_poisson():
    # 400 whole seconds at 50/s: mean 50 (standard error 0.35), variance 50 (standard error 50 * sqrt(2 / 400) = 3.5).
    times = arrivals(lambda second: 1.0, 50.0, 402.0)
    counts = [0] * 400
    for time in times:
        if time < 400:
            counts[int(time)] += 1
    mean = sum(counts) / 400
    assert mean == pytest.approx(50.0, abs=1.1)
    assert sum((count - mean) ** 2 for count in counts) / 399 == pytest.approx(50.0, abs=11)


def test_the_rate_follows_the_shape():
    # 0.2 of 100/s for 100 s, then all of it for 100 s: 2,000 and 10,000, within three standard deviations.
    times = arrivals(lambda second: 0.2 if second < 100 else 1.0, 100.0, 200.1)
    assert sum(time < 100 for time in times) == pytest.approx(2000, abs=3 * sqrt(2000))
    assert sum(100 <= time < 200 for time in times) == pytest.approx(10_000, abs=3 * sqrt(10_000))


def test_they_do_not_wait_for_responses():
    # A service that takes 50 s: a closed loop of any size would stall; these keep coming.
    times = arrivals(lambda second: 1.0, 20.0, 100.0, service_s=50.0)
    assert sum(time < 45 for time in times) == pytest.approx(900, abs=3 * sqrt(900))


def test_the_same_seed_gives_the_same_arrivals():
    first = arrivals(lambda second: 0.5, 20.0, 20.0)
    assert first == arrivals(lambda second: 0.5, 20.0, 20.0)
    assert first != arrivals(lambda second: 0.5, 20.0, 20.0, seed=2)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("inf"), float("nan")])
def test_a_rate_out_of_range_is_refused(rate):
    with pytest.raises(ValueError, match="most_per_s must be > 0 and finite"):
        arrivals(lambda second: 1.0, rate, 1.0)


@pytest.mark.parametrize("weights", [{}, {"GET /": 0.0}, {"GET /": -1.0}, {"GET /": float("nan")}])
def test_weights_that_make_no_mix_are_refused(weights):
    with pytest.raises(ValueError, match="weights must be >= 0 and their sum > 0"):
        Mix(World(front(wait(0.001))).application, weights)
