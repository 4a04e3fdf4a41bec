"""The posterior: which shapes the evidence leaves, how likely each is, and what they predict for sizes without
evidence.

For each shape h the residuals r = y - h of the rows (`Evidence.rows`) have the covariance Q^-1 = diag(v) + K. v are the
rows' own variances. K = s^2 exp(-(ln n - ln n')^2 / 2 l^2) is a Gaussian process for what the family cannot express,
within rows of the same cores. The scale a is profiled out, a = 1'Q r / 1'Q 1, and the shape's weight is

    prior(k) exp(-(r - a)' Q (r - a) / 2)

with the one of three s (2.5, 8 and 25 %) under which the rows are likeliest. So the fit interpolates a service that is
nothing like the family (a cliff, a lock whose queue slows it), and does not bend it to the family.

The prior of ln k is normal about ln(2.5 cores), 0.5 wide below and 1.0 above: threads wait as well as compute.
Crosstalk that bends the curve down below 2.5 cores is as unlikely. Where no CPU limit was reported, ln k is about ln
10, 1.5 wide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.fast.belief import Known, fit, gained, predictions, residuals
from sluice.pools.estimate.belief.edge import Edge
from sluice.pools.estimate.belief.evidence import UNREPORTED, LevelRows
from sluice.pools.estimate.belief.family import LN_MOST, LN_SIZES, SIZES, Family, Floats, Ints

SPREADS = (0.025, 0.08, 0.25)
LN_SPREAD_PRIOR = {0.025: log(0.80), 0.08: log(0.15), 0.25: log(0.05)}
LENGTH = 0.25
K_PER_CORE, LN_BELOW, LN_ABOVE = 2.5, 0.5, 1.0
K_UNTOLD, LN_UNTOLD = 10.0, 1.5
# Shapes with less than this part of the likeliest one's weight are left out.
NEGLIGIBLE = 1e-4
LN_NEGLIGIBLE = log(NEGLIGIBLE)
# Shapes with less than this part will not be above NEGLIGIBLE a moment later.
UNLIKELY = 1e-5
LN_UNLIKELY = log(UNLIKELY)
# Variance of the scale without any row.
UNKNOWN = 1e3
# In ln of the rows' likelihood: a spread this near the likeliest one may be the likeliest a moment later.
NEARLY = 2.3
SIZE_SET = frozenset(SIZES.tolist())
NONE = np.zeros(0)


@dataclass(frozen=True)
class Gains:
    """Gains of sizes over one size: mean and variance of ln X(size) - ln X(current), shape (N,).

    sizes: `SIZES`, and then other requested ones; current_at: index of the current one. of_shape: the gain by each
    remaining shape, shape (s, N), where more than the two moments is needed; ln_rate_now: at the current size, (s,).
    falls: the chance that the size is beyond an edge, and smooth: the mean gain if it is not, (N,).
    """

    sizes: Ints
    current_at: int
    mean: Floats
    variance: Floats
    of_shape: Floats
    ln_rate_now: Floats
    smooth: Floats
    falls: Floats


@dataclass(frozen=True)
class Posterior:
    """shapes: indices of the remaining shapes, shape (s,); weight and ln_speed (the scale a) of each. precision: Q, (m,
    m).

    likely: indices of the shapes that may have weight a moment later, under any spread that may then be the likeliest.
    spreads: these spreads. top: the likeliest shape's ln weight, before the weights are normalized to sum 1. edge: the
    edge that was left out of the rows, None without one. answers: the last result by its arguments; it saves work, and
    is not compared.
    """

    family: Family
    rows: LevelRows
    shapes: Ints
    weight: Floats
    ln_speed: Floats
    precision: Floats
    speed_variance: float
    spread: float
    likely: Ints
    spreads: tuple[float, ...]
    top: float
    edge: Edge | None = None
    answers: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def predict(self, n: float, full: bool) -> tuple[float, float]:
        """Mean and variance of ln X at n in flight, on the present cores."""
        mean, variance = self.predict_each(np.array([n]), np.array([full]))
        return float(mean[0]), float(variance[0])

    def predict_each(self, n: Floats, full: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """As `predict` for several n, each of shape (k,)."""
        ln_n = np.minimum(np.log(n), LN_MOST)
        mean, variance = predictions(*self.known, ln_n, full)
        if self.edge is not None:
            falls = self.edge.chance(ln_n) * full
            mean = (1 - falls) * mean + falls * self.edge.fallen(ln_n)
        return mean, variance

    @property
    def known(self) -> Known:
        """The posterior as arguments of the compiled loops."""
        return *self.family.grid, self.rows.columns, self._left, self._process, self.speed_variance

    @property
    def residual(self) -> Floats:
        """Residual of each row under each remaining shape, (s, m). It is computed on request, as its cost is most of a
        belief's."""
        return residuals(*self.family.grid, self.rows.columns, self._left).T

    def gains(self, current: int, *others: int) -> Gains:
        """Gains of `SIZES`, the current one and others over the current one, in a pool that is full."""
        sizes, ln_n = SIZES, LN_SIZES
        unthought = sorted({current, *others}.difference(SIZE_SET))
        if unthought:
            sizes = np.concatenate((SIZES, unthought))
            ln_n = np.log(sizes)
        at = int((sizes == current).argmax())
        gain, mean, variance, ln_rate_now = gained(
            *self.family.grid,
            self.family.sized.T,
            self.rows.columns,
            self._left,
            self._process,
            ln_n,
            at,
        )
        if self.edge is None:
            return Gains(sizes, at, mean, variance, gain.T, ln_rate_now, mean, np.zeros(len(sizes)))
        falls = self.edge.chance(ln_n)
        rate = (1 - falls[:, None]) * (gain + ln_rate_now) + (falls * self.edge.fallen(ln_n))[:, None]
        rate_now = rate[at].copy()
        rate -= rate_now
        smooth = mean + float(self.weight @ (ln_rate_now - rate_now))
        return Gains(sizes, at, rate @ self.weight, (1 - falls) ** 2 * variance, rate.T, rate_now, smooth, falls)

    @property
    def _left(self) -> tuple[Ints, Floats, Floats]:
        return self.shapes, self.weight, self.ln_speed

    @property
    def _process(self) -> tuple[Floats, float, float]:
        return self.precision, self.spread, LENGTH


def posterior(
    family: Family,
    rows: LevelRows,
    cores: float,
    shapes: Ints | None = None,
    spreads: tuple[float, ...] = SPREADS,
    edge: Edge | None = None,
) -> Posterior:
    """The posterior of the rows on this CPU limit. shapes, spreads: only these are considered, since others had no
    weight a moment ago; None: all shapes. edge: the edge that was left out of the rows."""
    which = np.arange(len(family)) if shapes is None else shapes
    prior = _ln_prior(family, cores)[which]
    if len(rows) == 0:
        left = np.flatnonzero(prior >= LN_NEGLIGIBLE)
        weight = np.exp(prior[left])
        weight /= weight.sum()
        none = np.zeros((0, 0))
        return Posterior(
            family, rows, which[left], weight, np.zeros(len(left)), none, UNKNOWN, SPREADS[0], which, SPREADS, 0.0, edge
        )
    # Any curve with two parameters fits two rows, so nothing contradicts the family.
    candidates = spreads if len(rows) > 2 else spreads[:1]
    best, top, speed_variance, possible, left, weight, ln_speed, likely, precision = fit(
        *family.grid,
        rows.columns,
        rows.variance,
        which,
        prior,
        np.array(candidates),
        np.array([LN_SPREAD_PRIOR[spread] for spread in candidates]),
        LENGTH,
        (LN_NEGLIGIBLE, LN_UNLIKELY, NEARLY),
    )
    return Posterior(
        family,
        rows,
        left,
        weight,
        ln_speed,
        precision,
        speed_variance,
        candidates[best],
        likely,
        tuple(spread for spread, maybe in zip(candidates, possible, strict=True) if maybe)
        if len(rows) > 2
        else spreads,
        top,
        edge,
    )


@lru_cache(maxsize=256)
def _ln_prior(family: Family, cores: float) -> Floats:
    """ln prior of each shape; 0 for the likeliest one of all."""
    if cores == UNREPORTED:
        ln_prior: Floats = -0.5 * (np.log(family.k / K_UNTOLD) / LN_UNTOLD) ** 2
    else:
        away = np.log(family.k / (K_PER_CORE * cores))
        ln_prior = -0.5 * (away / np.where(away < 0, LN_BELOW, LN_ABOVE)) ** 2
        ln_prior -= 0.5 * (np.minimum(np.log(family.peak / (K_PER_CORE * cores)), 0.0) / LN_BELOW) ** 2
    ln_prior -= ln_prior.max()
    return ln_prior
