"""The compiled loops against the formulas of `posterior.py` as they stand there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.estimate.belief.compiled import moments
from sluice.pools.estimate.belief.evidence import Rows
from sluice.pools.estimate.belief.family import GRID, K, family
from sluice.pools.estimate.belief.posterior import LENGTH, LN_SPREAD_PRIOR, NEGLIGIBLE, SPREADS, posterior

ROW = st.tuples(
    st.floats(0.0, 5.0), st.floats(2.0, 6.0), st.floats(1e-4, 0.01), st.booleans(), st.sampled_from([1.0, 0.5, 3.0])
)


def rows_of(found: list[tuple[float, float, float, bool, float]]) -> Rows:
    ln_n, ln_rate, variance, full, scale = (np.array(column) for column in zip(*found, strict=True))
    return Rows(ln_n, ln_rate, variance, full, scale)


@given(st.lists(ROW, min_size=3, max_size=9))
@settings(deadline=None, max_examples=30)
def test_shapes_have_the_weight_of_the_formula(found: list[tuple[float, float, float, bool, float]]) -> None:
    rows = rows_of(found)
    now = posterior(family(), rows, 0.0)
    residual = rows.ln_rate - family().rows(rows.ln_n, rows.full, rows.scale)
    near = np.exp(-0.5 * ((rows.ln_n[:, None] - rows.ln_n) / LENGTH) ** 2) * (rows.scale[:, None] == rows.scale)
    prior = -0.5 * (np.log(family().k / 10) / 1.5) ** 2
    prior -= prior.max()
    likely = {}
    for spread in SPREADS:
        covariance = np.diag(rows.variance) + spread**2 * near
        q = np.linalg.inv(covariance)
        speed = residual @ q.sum(axis=0) / q.sum()
        off = residual - speed[:, None]
        ln_weight = prior - 0.5 * np.einsum("si,ij,sj->s", off, q, off)
        ln_likely = np.logaddexp.reduce(ln_weight) - 0.5 * np.log(q.sum()) - 0.5 * np.linalg.slogdet(covariance)[1]
        likely[spread] = (ln_likely + LN_SPREAD_PRIOR[spread], ln_weight, speed, q)
    best = max(likely.values(), key=lambda each: each[0])
    assert likely[now.spread][0] == pytest.approx(best[0], abs=1e-6)
    _, ln_weight, speed, q = likely[now.spread]
    assert set(np.flatnonzero(ln_weight > ln_weight.max() + np.log(2 * NEGLIGIBLE))) <= set(now.shapes.tolist())
    weight = np.exp(ln_weight[now.shapes] - ln_weight.max())
    assert now.weight == pytest.approx(weight / weight.sum(), abs=1e-6)
    assert now.ln_speed == pytest.approx(speed[now.shapes], abs=1e-6)
    assert now.precision == pytest.approx(q, rel=1e-6, abs=1e-6 * np.abs(q).max())
    assert now.residual == pytest.approx((residual - speed[:, None])[now.shapes], abs=1e-6)


def test_with_other_cores_k_is_in_proportion() -> None:
    """Twice the step of k: exactly the shape that is so much further on."""
    step, stride = K[1] / K[0], family().stride
    at = np.array([5, 5 + 7 * stride])
    here = family().rows(GRID[[100]], np.array([False]), np.array([step**2]), at)
    assert here[:, 0] == pytest.approx(family().opened[at + 2 * stride, 100])
    most = np.array([len(family()) - 1])
    assert family().rows(GRID[[100]], np.array([True]), np.array([step]), most)[0, 0] == pytest.approx(
        family().closed[-1, 100]
    )


def test_moments_are_of_what_the_rows_pull() -> None:
    chance = np.random.default_rng(1)
    each, pull, residual = chance.normal(size=(4, 30)), chance.normal(size=(4, 7)), chance.normal(size=(7, 30))
    weight = np.full(30, 1 / 30)
    pulled = each + pull @ residual
    mean, variance = moments(each, pull, residual, weight)
    assert each == pytest.approx(pulled)
    assert mean == pytest.approx(pulled.mean(axis=1))
    assert variance == pytest.approx(pulled.var(axis=1))
