"""The error of a service's latency model on windows that it was not trained on (Microns, 7.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.subsets.chance import draws
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.latency.accuracy import TRAINED_ON
from sluice.subsets.latency.boosted import FEWEST, train
from sluice.subsets.latency.mixture import percentiles
from sluice.subsets.latency.samples import LatencySamples


@dataclass(frozen=True)
class HeldOut:
    """mu: mean of |e^(predicted mu) / e^mu - 1|. sigma: mean of |predicted / sigma - 1|. pair: the same error for the
    percentile of all of a window's containers together, weighted by their requests. samples: how many samples these are
    over."""

    mu: float
    sigma: float
    pair: float
    samples: int


def held_out(samples: LatencySamples, window: Ints, percentile: float = 0.95) -> HeldOut | None:
    """The error of a model trained on TRAINED_ON of the windows, measured on the others.

    Containers of one window see the same load, so a window is held out as a whole or not at all. window: (n,) the start
    of each sample's window. None where too few samples are left to train on.
    """
    starts, number = np.unique(window, return_inverse=True)
    chosen = (draws(0, len(starts)) < TRAINED_ON)[number]
    if chosen.sum() < FEWEST or chosen.all():
        return None
    others, groups = samples.where(~chosen), number[~chosen]
    others, groups = _sorted(others, groups)
    mu, sigma = train(samples.where(chosen)).curves(others.contention).at(others.rate_per_s)
    varied = others.sigma > 0
    off = np.abs(sigma[varied] / others.sigma[varied] - 1)
    return HeldOut(
        float(np.abs(np.exp(mu - others.mu) - 1).mean()),
        float(off.mean()) if varied.any() else 0.0,
        _pair(others, groups, (mu, sigma), percentile),
        len(others),
    )


def _sorted(samples: LatencySamples, groups: Ints) -> tuple[LatencySamples, Ints]:
    order = np.argsort(groups, kind="stable")
    return (
        LatencySamples(samples.rate_per_s[order], samples.contention[order], samples.mu[order], samples.sigma[order]),
        groups[order],
    )


def _pair(samples: LatencySamples, groups: Ints, predicted: tuple[Floats, Floats], percentile: float) -> float:
    start = np.append(np.flatnonzero(np.diff(groups, prepend=-1)), len(groups)).astype(np.int64)
    rate = samples.rate_per_s
    was, _ = percentiles(samples.mu, np.maximum(samples.sigma, 0.01), rate, start, percentile)
    predicted_latency, _ = percentiles(*predicted, rate, start, percentile)
    return float(np.abs(np.exp(predicted_latency - was) - 1).mean())
