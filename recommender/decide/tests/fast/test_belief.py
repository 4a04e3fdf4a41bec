"""The compiled loops against the formulas of `posterior.py` as they stand there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.estimate.belief.evidence import LevelRows
from sluice.pools.estimate.belief.family import family
from sluice.pools.estimate.belief.posterior import LENGTH, LN_SPREAD_PRIOR, NEGLIGIBLE, SPREADS, posterior

ROW = st.tuples(
    st.floats(0.0, 5.0), st.floats(2.0, 6.0), st.floats(1e-4, 0.01), st.booleans(), st.sampled_from([1.0, 0.5, 3.0])
)


def rows_of(found: list[tuple[float, float, float, bool, float]]) -> LevelRows:
    ln_n, ln_rate, variance, full, scale = (np.array(column) for column in zip(*found, strict=True))
    return LevelRows(ln_n, ln_rate, variance, full, scale)


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


@given(st.lists(ROW, min_size=3, max_size=9), st.integers(1, 600))
@settings(deadline=None, max_examples=30)
def test_predictions_and_gains_are_of_the_formula(
    found: list[tuple[float, float, float, bool, float]], current: int
) -> None:
    now = posterior(family(), rows_of(found), 0.0)

    def near(ln_n: np.ndarray) -> np.ndarray:
        apart = (ln_n[:, None] - now.rows.ln_n) / LENGTH
        return now.spread**2 * np.exp(-0.5 * apart**2) * (now.rows.scale == 1.0)

    def variance(each: np.ndarray, mean: np.ndarray) -> np.ndarray:
        return now.weight @ (each - mean) ** 2

    n, full = np.array([0.3, 7.0, 700.0]), np.array([False, True, True])
    ln_n = np.minimum(np.log(n), np.log(512))
    pull = near(ln_n) @ now.precision
    each = family().rows(ln_n, full, np.ones(3), now.shapes) + now.ln_speed[:, None] + now.residual @ pull.T
    local = np.maximum(0.0, now.spread**2 - (near(ln_n) * pull).sum(axis=1))
    mean = now.weight @ each
    expected = variance(each, mean) + local + now.speed_variance * (1 - pull.sum(axis=1)) ** 2
    assert now.predict_each(n, full) == (pytest.approx(mean, abs=1e-9), pytest.approx(expected, abs=1e-9))

    gains = now.gains(current, 33)
    ln_n = np.log(gains.sizes)
    apart = near(ln_n) - near(ln_n[[gains.current_at]])
    pull = apart @ now.precision
    each = family().full(ln_n, now.shapes)
    here = each[:, [gains.current_at]]
    each = each - here + now.residual @ pull.T
    alike = np.exp(-0.5 * ((ln_n - ln_n[gains.current_at]) / LENGTH) ** 2)
    local = np.maximum(2 * now.spread**2 * (1 - alike) - (apart * pull).sum(axis=1), 0.0)
    assert gains.of_shape == pytest.approx(each, abs=1e-9)
    assert gains.mean == pytest.approx(now.weight @ each, abs=1e-9)
    assert gains.variance == pytest.approx(variance(each, now.weight @ each) + local, abs=1e-9)
    pulled = now.residual @ now.precision @ near(ln_n[[gains.current_at]])[0]
    assert gains.ln_rate_now == pytest.approx(here[:, 0] + now.ln_speed + pulled, abs=1e-9)
