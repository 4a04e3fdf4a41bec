"""How wrong a latency model is on samples that it was not trained on (Microns, 7.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.subsets.chance import draws
from sluice.subsets.latency.boosted import FEWEST, BoostedLatency, train
from sluice.subsets.latency.samples import Samples

#: The part of the samples that is trained on, as in the paper.
TRAINED_ON = 0.7


@dataclass(frozen=True)
class Accuracy:
    """mu: mean of |e^(predicted mu) / e^mu - 1|, so of the median latency. sigma: mean of |predicted / sigma - 1|.
    samples: that this is the mean over."""

    mu: float
    sigma: float
    samples: int


def accuracy(model: BoostedLatency, held_out: Samples) -> Accuracy:
    """Of `model` on `held_out`, of which there is at least one."""
    curves = model.curves(held_out.contention)
    mu, sigma = curves.at(held_out.rate_per_s)
    seen = held_out.sigma > 0
    off = np.abs(sigma[seen] / held_out.sigma[seen] - 1)
    return Accuracy(float(np.abs(np.exp(mu - held_out.mu) - 1).mean()), float(off.mean()), len(held_out))


def held_out_accuracy(samples: Samples) -> Accuracy | None:
    """Of a model of TRAINED_ON of the samples, on the others; None where that leaves too few to train on."""
    chosen = draws(0, len(samples)) < TRAINED_ON
    if chosen.sum() < FEWEST or chosen.all():
        return None
    return accuracy(train(samples.where(chosen)), samples.where(~chosen))
