"""Percentiles of mixtures, beside SciPy's own root finder."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import lognorm

from sluice.subsets.latency.mixture import percentiles


def test_one_part_is_a_log_normal() -> None:
    latency, converged = percentiles(np.array([1.0]), np.array([0.5]), np.array([3.0]), np.array([0, 1]), 0.95)
    assert converged
    assert np.exp(latency[0]) == pytest.approx(lognorm.ppf(0.95, 0.5, scale=np.e))


def test_weights_are_normalized() -> None:
    """Eq. of 5.4 as printed sums F_j w_j with workloads, which passes 1 at once."""
    mu, sigma, start = np.array([0.0, 2.0]), np.array([0.3, 0.3]), np.array([0, 2])
    small, _ = percentiles(mu, sigma, np.array([0.9, 0.1]), start, 0.95)
    large, _ = percentiles(mu, sigma, np.array([900.0, 100.0]), start, 0.95)
    assert small == pytest.approx(large)


def test_what_is_not_used_does_not_count() -> None:
    latency, _ = percentiles(np.array([0.0, 9.0]), np.array([0.3, 0.3]), np.array([1.0, 0.0]), np.array([0, 2]), 0.95)
    assert latency[0] == pytest.approx(0.3 * 1.6448536)


PARTS = st.lists(
    st.tuples(st.floats(-3, 8), st.floats(0.01, 3), st.just(0.0) | st.floats(1e-6, 1e4)), min_size=1, max_size=8
)


@given(st.lists(PARTS, min_size=1, max_size=6), st.floats(0.01, 0.999))
def test_it_finds_what_scipy_finds_and_says_that_it_did(
    mixtures: list[list[tuple[float, float, float]]], p: float
) -> None:
    rows = np.array([part for mixture in mixtures for part in mixture])
    start = np.concatenate([[0], np.cumsum([len(mixture) for mixture in mixtures])])
    latency, converged = percentiles(rows[:, 0], rows[:, 1], rows[:, 2], start, p)
    assert converged
    for number, mixture in enumerate(mixtures):
        mu, sigma, weight = np.array(mixture).T
        weight = weight if weight.sum() > 0 else np.ones_like(weight)

        def over(at: float, mu=mu, sigma=sigma, weight=weight) -> float:  # type: ignore[no-untyped-def]
            return float(weight @ ndtr((at - mu) / sigma) / weight.sum() - p)

        own = mu + sigma * 3.2
        expected = brentq(over, mu.min() - 4 * sigma.max() - 1, own.max() + 1)
        # Where the mixture has a flat part, any point of it will do.
        assert latency[number] == pytest.approx(expected, abs=2e-5) or abs(over(latency[number])) < 1e-6
