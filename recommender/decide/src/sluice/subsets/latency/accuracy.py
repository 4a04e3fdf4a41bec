"""The error of a latency model on samples that it was not trained on (Microns, 7.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.subsets.chance import draws
from sluice.subsets.latency.boosted import FEWEST, BoostedLatency, train
from sluice.subsets.latency.samples import LatencySamples

#: The part of the samples to train on, as in the paper.
TRAINED_ON = 0.7


@dataclass(frozen=True)
class Accuracy:
    """mu: mean of |e^(predicted mu) / e^mu - 1|, the error of the median latency. sigma: mean of |predicted / sigma -
    1|. samples: how many samples the means are over."""

    mu: float
    sigma: float
    samples: int


def accuracy(model: BoostedLatency, held_out: LatencySamples) -> Accuracy:
    """The error of `model` on `held_out`, which has at least one sample."""
    curves = model.curves(held_out.contention)
    mu, sigma = curves.at(held_out.rate_per_s)
    varied = held_out.sigma > 0
    off = np.abs(sigma[varied] / held_out.sigma[varied] - 1)
    return Accuracy(float(np.abs(np.exp(mu - held_out.mu) - 1).mean()), float(off.mean()), len(held_out))


def held_out_accuracy(samples: LatencySamples) -> Accuracy | None:
    """The error of a model trained on TRAINED_ON of the samples, measured on the others; None where too few are left to
    train on."""
    chosen = draws(0, len(samples)) < TRAINED_ON
    if chosen.sum() < FEWEST or chosen.all():
        return None
    return accuracy(train(samples.where(chosen)), samples.where(~chosen))
