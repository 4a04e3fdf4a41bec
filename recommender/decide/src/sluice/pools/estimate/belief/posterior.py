"""Which shapes the evidence leaves, how likely each is, and what they say of sizes that were never in force.

For each shape h the residuals r = y - h of the rows (`Evidence.rows`) have the covariance Q^-1 = diag(v) + K: v are the
rows' own variances, K = s^2 exp(-(ln n - ln n')^2 / 2 l^2) is a Gaussian process for what the family cannot be, within
rows of the same cores. The scale a is profiled out, a = 1'Q r / 1'Q 1, and the shape's weight is

    prior(k) exp(-(r - a)' Q (r - a) / 2)

with the one of three s (1.5, 6 and 25 %) under which the rows are likeliest: a service that is nothing like the family
(a cliff, a lock whose queue slows it) is then interpolated rather than bent to it.
The prior of ln k is normal about ln(2.5 cores), 0.5 wide below and 1.0 above: threads wait as well as compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from sluice.pools.estimate.belief.evidence import Rows
from sluice.pools.estimate.belief.family import LN_LEAST, LN_MOST, Family, Floats, Ints

SPREADS, SPREAD_PRIOR = (0.015, 0.06, 0.25), (0.80, 0.15, 0.05)
LENGTH = 0.25
K_PER_CORE, LN_BELOW, LN_ABOVE = 2.5, 0.5, 1.0
# Shapes with less than so much of the likeliest one's weight are left out.
NEGLIGIBLE = 1e-4
# And with less than so much of it they will not have more in a moment.
UNLIKELY = 1e-8
# The scale without any row: nobody knows.
UNKNOWN = 1e3


@dataclass(frozen=True)
class Gains:
    """Of sizes over one size, shape (N,): mean and variance of ln X(size) - ln X(current).

    ln_rate: of each shape left, shape (s, N), and weight of each, shape (s,), for who needs more than the two moments;
    ln_rate_now: at the current size, shape (s,).
    """

    mean: Floats
    variance: Floats
    ln_rate: Floats
    ln_rate_now: Floats
    weight: Floats


@dataclass(frozen=True)
class Posterior:
    """shapes: indices of those left, shape (s,); weight and ln_speed (the scale a) of each; residual: (s, m).

    likely: indices of those that may have weight a moment later. ahead: by how much ln of how likely the rows are is
    above that under the next spread.
    """

    family: Family
    rows: Rows
    shapes: Ints
    weight: Floats
    ln_speed: Floats
    residual: Floats
    precision: Floats
    speed_variance: float
    spread: float
    likely: Ints
    ahead: float

    def predict(self, n: float, full: bool) -> tuple[float, float]:
        """Mean and variance of ln X at n in flight, on the cores of now."""
        ln_n = np.array([_inside(np.log(n))])
        shape = self.family.rows(ln_n, np.array([full]), np.ones(1), self.shapes)[:, 0]
        near = self._near(ln_n)[0]
        each = shape + self.ln_speed + self.residual @ (self.precision @ near)
        mean = float(self.weight @ each)
        local = max(0.0, self.spread**2 - near @ self.precision @ near)
        scale = self.speed_variance * (1.0 - near @ self.precision.sum(axis=1)) ** 2
        return mean, float(self.weight @ (each - mean) ** 2 + local + scale)

    def gains(self, sizes: Floats, current: float) -> Gains:
        """Of each size, shape (N,), over the current one, in a pool that is full."""
        ln_n, ln_now = np.log(sizes), np.log(np.array([current]))
        near, near_now = self._near(ln_n), self._near(ln_now)
        pull = self.residual @ self.precision
        ln_rate = self.family.full(ln_n, self.shapes) + self.ln_speed[:, None] + pull @ near.T
        ln_rate_now = self.family.full(ln_now, self.shapes)[:, 0] + self.ln_speed + pull @ near_now[0]
        gain = ln_rate - ln_rate_now[:, None]
        mean = self.weight @ gain
        apart = near - near_now
        alike = np.exp(-0.5 * ((ln_n - ln_now) / LENGTH) ** 2)
        local = 2 * self.spread**2 * (1 - alike) - ((apart @ self.precision) * apart).sum(axis=1)
        variance = self.weight @ (gain - mean) ** 2 + np.maximum(local, 0.0)
        return Gains(mean, variance, ln_rate, ln_rate_now, self.weight)

    def _near(self, ln_n: Floats) -> Floats:
        """Covariance of the Gaussian process with the rows, shape (N, m); rows of other cores are no neighbours."""
        apart = (ln_n[:, None] - self.rows.ln_n[None, :]) / LENGTH
        near: Floats = self.spread**2 * np.exp(-0.5 * apart**2) * (self.rows.scale == 1.0)[None, :]
        return near


def posterior(
    family: Family, rows: Rows, cores: float, shapes: Ints | None = None, spread: float | None = None
) -> Posterior:
    """shapes, spread: only these are looked at, as where others had no weight a moment ago; None: all."""
    which = np.arange(len(family)) if shapes is None else shapes
    prior = _ln_prior(family.k[which], cores)
    if len(rows) == 0:
        left = np.flatnonzero(prior >= np.log(NEGLIGIBLE))
        nothing, none = np.zeros((len(left), 0)), np.zeros((0, 0))
        weight, speed = _normal(prior[left]), np.zeros(len(left))
        return Posterior(family, rows, which[left], weight, speed, nothing, none, UNKNOWN, SPREADS[0], which, 0.0)
    residual = rows.ln_rate[None, :] - family.rows(rows.ln_n, rows.full, rows.scale, shapes)
    apart = (rows.ln_n[:, None] - rows.ln_n[None, :]) / LENGTH
    alike = np.exp(-0.5 * apart**2) * (rows.scale[:, None] == rows.scale[None, :])
    # Two rows are fitted by any two-parameter curve: nothing says that the family is wrong.
    asked = [spread] if spread is not None else SPREADS[: None if len(rows) > 2 else 1]
    fits = [_fit(each, rows, alike, residual, prior) for each in asked]
    best = max(fits, key=lambda fit: fit.ln_likely)
    others = [fit.ln_likely for fit in fits if fit is not best]
    top = float(best.ln_weight.max())
    left = np.flatnonzero(best.ln_weight >= top + np.log(NEGLIGIBLE))
    ones = best.precision.sum(axis=0)
    return Posterior(
        family,
        rows,
        which[left],
        _normal(best.ln_weight[left]),
        best.ln_speed[left],
        residual[left] - best.ln_speed[left, None],
        best.precision,
        1 / float(ones.sum()),
        best.spread,
        which[best.ln_weight >= top + np.log(UNLIKELY)],
        best.ln_likely - max(others) if others else np.inf,
    )


@dataclass(frozen=True)
class _Fit:
    """Under one spread; ln_likely: of the rows, whatever the shape."""

    spread: float
    precision: Floats
    ln_speed: Floats
    ln_weight: Floats
    ln_likely: float


def _fit(spread: float, rows: Rows, alike: Floats, residual: Floats, prior: Floats) -> _Fit:
    covariance = spread**2 * alike + np.diag(rows.variance)
    precision = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    ones = precision.sum(axis=0)
    pulled = residual @ precision
    ln_speed: Floats = pulled.sum(axis=1) / ones.sum()
    # (r - a)' Q (r - a) = r' Q r - a^2 1' Q 1 for the a that is the mean.
    ln_weight: Floats = prior - 0.5 * ((pulled * residual).sum(axis=1) - ln_speed**2 * ones.sum())
    top = float(ln_weight.max())
    ln_likely = top + float(np.log(np.exp(ln_weight - top).sum())) + log(SPREAD_PRIOR[SPREADS.index(spread)])
    ln_likely -= 0.5 * float(np.linalg.slogdet(covariance)[1]) + 0.5 * float(np.log(ones.sum()))
    return _Fit(spread, precision, ln_speed, ln_weight, ln_likely)


def _ln_prior(k: Floats, cores: float) -> Floats:
    away = np.log(k / (K_PER_CORE * cores))
    found: Floats = -0.5 * (away / np.where(away < 0, LN_BELOW, LN_ABOVE)) ** 2
    found -= found.max()
    return found


def _normal(ln_weight: Floats) -> Floats:
    weight: Floats = np.exp(ln_weight - ln_weight.max())
    weight /= weight.sum()
    return weight


def _inside(ln_n: float) -> float:
    return float(min(max(ln_n, LN_LEAST), LN_MOST))
