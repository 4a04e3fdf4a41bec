"""The trend under the trees of a latency model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.subsets.latency.boosted import FREE, RISING, BoostedLatency, boosted, boosted_latency, train
from sluice.subsets.latency.pooled import slower
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.latency.trend import NONE, TERMS, Trend, trend_of


def samples(rate: np.ndarray, contention: np.ndarray, mu: np.ndarray) -> LatencySamples:
    return LatencySamples(rate, contention, mu, np.full(len(rate), 0.4))


def drawn(count: int, seed: int, most: float = 0.7) -> LatencySamples:
    """ln latency rises with load and contention alike, everywhere."""
    random = np.random.default_rng(seed)
    rate, contention = random.uniform(10, 100, count), random.uniform(0, most, (count, 3))
    mu = 1.0 + 0.8 * rate / 100 + contention @ [0.9, 0.5, 0.2] + random.normal(0, 0.02, count)
    return samples(rate, contention, mu)


def bent(count: int, seed: int) -> LatencySamples:
    """Slow from 60 % of its busiest resource on."""
    random = np.random.default_rng(seed)
    rate, contention = random.uniform(5, 250, count), random.uniform(0.05, 0.8, (count, 3))
    takes = 4 * np.exp(slower(contention.max(axis=1)))
    busy = np.minimum(rate * takes / 8_000, 0.9)
    return samples(rate, contention, np.log(takes / (1 - busy)))


def with_trend(known: LatencySamples, trend: Trend) -> BoostedLatency:
    of_mu = boosted(known, known.mu - trend.of(known), RISING)
    return boosted_latency(known, of_mu, boosted(known, known.sigma, FREE), trend)


def off(seen: LatencySamples, model: BoostedLatency) -> float:
    mu, _ = model.curves(seen.contention).at(seen.rate_per_s)
    return float(np.abs(mu - seen.mu).mean())


def test_a_line_is_its_own_trend() -> None:
    """mu of 1, 2 and 3 at 10, 20 and 30 calls a second."""
    calm = samples(np.array([10.0, 20.0, 30.0]), np.full((3, 3), 0.2), np.array([1.0, 2.0, 3.0]))
    trend = trend_of(calm, calm.mu)
    assert trend.highest_per_s == 30.0
    assert trend.of(calm) == pytest.approx([1.033, 1.951, 3.016], abs=1e-3)


def test_over_rates_and_hosts_it_is_what_it_is_at_each() -> None:
    trend = Trend(100.0, 1.0, np.arange(1.0, TERMS + 1))
    rates, hosts = np.array([0.0, 50.0, 100.0]), np.array([[0.1, 0.2, 0.3], [0.5, 0.0, 0.9]])
    table = trend.over(rates, hosts)
    for row, host in enumerate(hosts):
        line = trend.of(samples(rates, np.tile(host, (3, 1)), rates))
        assert table[row] == pytest.approx(line)
    # 1 + 1 x 0.5 + 5 x 0.25 at half the rate on an idle host.
    assert trend.over(np.array([50.0]), np.zeros((1, 3))) == pytest.approx(np.array([[2.75]]))


@given(st.integers(0, 1_000), st.integers(2, 60), st.booleans())
def test_it_never_falls_with_load_or_contention(seed: int, count: int, falls: bool) -> None:
    of = drawn(count, seed)
    trend = trend_of(of, -of.mu if falls else of.mu)
    table = trend.over(np.linspace(0, 200, 5), np.array([[0.1, 0.1, 0.1], [0.1, 0.6, 0.1], [0.9, 0.6, 0.2]]))
    assert (np.diff(table, axis=1) >= -1e-9).all()
    assert (np.diff(table, axis=0) >= -1e-9).all()


def test_a_model_with_a_trend_is_nearer_where_latency_rises_everywhere() -> None:
    """Hosts that are busier than most of the samples: trees alone stay at the mean of the busiest box."""
    seen = drawn(200, seed=2, most=0.7)
    for count in (24, 100, 400):
        known = drawn(count, seed=1)
        assert train(known).trend is not NONE
        assert off(seen, train(known)) < 0.6 * off(seen, with_trend(known, NONE))


@pytest.mark.parametrize("count", [40, 300])
def test_a_service_that_is_slow_from_a_point_on_has_none(count: int) -> None:
    known, seen = bent(count, seed=1), bent(200, seed=2)
    assert train(known).trend is NONE
    assert off(seen, train(known)) == off(seen, with_trend(known, NONE))


def test_with_a_trend_such_a_service_would_be_further_off() -> None:
    known, seen = bent(300, seed=1), bent(200, seed=2)
    forced = with_trend(known, trend_of(known, known.mu))
    assert off(seen, forced) > 1.5 * off(seen, train(known))


def test_beyond_the_busiest_samples_nothing_changes() -> None:
    model = train(drawn(100, seed=1))
    busiest, beyond = np.array([[0.7, 0.7, 0.7]]), np.array([[1.0, 1.0, 1.0]])
    assert model.trend is not NONE
    assert model.curves(beyond).mu == pytest.approx(model.curves(np.maximum(busiest, model.busiest)).mu)
