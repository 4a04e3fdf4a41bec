"""The latency model of Microns, 5.4: two XGBoost models per service, from load and contention to mu and sigma.

Beyond the paper, the trees of mu are trained on what a trend leaves (`trend.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sluice.subsets.chance import draws
from sluice.subsets.fleet import Floats
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.forest import Float32s, Steps, forest
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.latency.trend import NONE, Trend, trend_of

if TYPE_CHECKING:
    from xgboost import Booster

#: A service with fewer samples has no model of its own. From some ten samples on a model has a smaller error than the
#: pooled distribution: with 24 samples 9 % in e^mu instead of 28 % (services of the testbed's Social Network, on
#: another deployment of it).
FEWEST = 20
ROUNDS = 120
# Parts of the samples by which it is decided whether a trend is taken.
FOLDS = 3
# More load or more contention never lowers the latency. The spread may go either way.
RISING, FREE = "(1,1,1,1)", "(0,0,0,0)"
PARAMETERS = {
    "tree_method": "hist",
    "max_depth": 5,
    "learning_rate": 0.08,
    "max_bin": 64,
    "min_child_weight": 2,
    # Trees over different rows and columns have steps at different places. So their sum is smoother, and its error is a
    # fifth smaller.
    "subsample": 0.6,
    "colsample_bynode": 0.75,
    "nthread": 1,
    "seed": 0,
}


@dataclass(frozen=True, eq=False)
class BoostedLatency:
    """rates: (m,) the rates at which either forest can change. lowest, highest: the range of observed calls per
    second. busiest: (3,) the highest observed utilizations, beyond which nothing changes. trend: what the trees of mu
    are added to."""

    mu: Steps
    sigma: Steps
    rates: Float32s
    lowest: float
    highest: float
    busiest: Floats
    basis: str
    trend: Trend = NONE

    def curves(self, contention: Floats) -> Curves:
        """Lines through the middles of the forests' steps, because within a step the forest does not tell rates apart.
        sigma is at least 0.01, because a container's latency always varies."""
        others = contention.astype(np.float32)
        mu, sigma = self.mu.of(others), self.sigma.of(others)
        edges = np.concatenate([[self.lowest], self.rates.astype(np.float64), [max(self.highest, self.lowest)]])
        rate = np.append((edges[:-1] + edges[1:]) / 2, edges[-1])
        rate = np.maximum.accumulate(rate + 1e-9 * np.arange(1, len(rate) + 1))
        mu = _to_the_end(mu) + self.trend.over(rate, np.minimum(contention, self.busiest))
        return Curves(rate, mu, np.maximum(_to_the_end(sigma), 0.01), self.highest, self.busiest)


def _to_the_end(steps: Floats) -> Floats:
    return np.ascontiguousarray(np.column_stack([steps, steps[:, -1]]))


def train(samples: LatencySamples) -> BoostedLatency:
    """Trains a model. The same samples in the same order give the same model."""
    trend = trend_of(samples, samples.mu) if _follows(samples) else NONE
    of_mu = boosted(samples, samples.mu - trend.of(samples), RISING)
    return boosted_latency(samples, of_mu, boosted(samples, samples.sigma, FREE), trend)


def _follows(samples: LatencySamples) -> bool:
    """Whether a trend has the smaller error, on each third of the samples by a model of the others. A service that is
    slow from one load or one utilization on has none."""
    third = (draws(0, len(samples)) * FOLDS).astype(np.int64)
    with_trend = without = 0.0
    for fold in range(FOLDS):
        known, others = samples.where(third != fold), samples.where(third == fold)
        if not len(known) or not len(others):
            continue
        trend = trend_of(known, known.mu)
        with_trend += _off(known, others, trend)
        without += _off(known, others, NONE)
    return with_trend < without


def _off(known: LatencySamples, others: LatencySamples, trend: Trend) -> float:
    """Sum of |ln(predicted / seen)| of the median latency."""
    import xgboost

    of_mu = boosted(known, known.mu - trend.of(known), RISING)
    left = of_mu.predict(xgboost.DMatrix(others.features(), nthread=1))
    return float(np.abs(trend.of(others) + left - others.mu).sum())


def boosted_latency(samples: LatencySamples, of_mu: Booster, of_sigma: Booster, trend: Trend = NONE) -> BoostedLatency:
    """Joins the two models that were trained on `samples`, and the trend that was taken from mu before."""
    mu, sigma = forest(of_mu), forest(of_sigma)
    rates = np.unique(np.concatenate([mu.rates(), sigma.rates()]))
    return BoostedLatency(
        mu.between(rates),
        sigma.between(rates),
        rates,
        float(samples.rate_per_s.min()),
        float(samples.rate_per_s.max()),
        samples.contention.max(axis=0),
        f"XGBoost of {len(samples)} samples",
        trend,
    )


def boosted(samples: LatencySamples, values: Floats, monotone: str) -> Booster:
    """Trains one model to predict `values`, (n,)."""
    import xgboost

    data = xgboost.DMatrix(samples.features(), label=values, nthread=1)
    return xgboost.train({**PARAMETERS, "monotone_constraints": monotone}, data, ROUNDS)
