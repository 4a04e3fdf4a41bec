"""Replaces a trained model where there are too few samples: the pooled distribution, scaled by utilization."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from sluice.subsets.fleet import Floats
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.missing import busiest
from sluice.subsets.latency.samples import LatencySamples

# Containers on hosts that are 60 % utilized take 5 times as long (Microns, 2.2).
SLOWER, AT = 5.0, 0.6
# Points of a curve, as multiples of the mean observed rate.
POINTS = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0])
# The spread of ln(latency) where there are no samples: p95 is 2.3 times the median.
SPREAD = 0.5


@dataclass(frozen=True)
class PooledLatency:
    """mu is the mu of all samples plus two terms: ln 5 for each 0.6 that the host's highest utilization is above its
    mean, and ln((1 + rate / mean rate) / 2). So the latency halves without load, and is 1.5 times at twice the mean.
    sigma is the sigma of all samples. mu rises with utilization and with load. highest_per_s as of `Curves`."""

    mu: float
    sigma: float
    rate_per_s: float
    utilization: float
    basis: str
    highest_per_s: float = inf

    def curves(self, contention: Floats) -> Curves:
        mu = self.mu + slower(contention.max(axis=1)) - slower(self.utilization)
        loaded = np.log((1 + POINTS) / 2)
        return Curves(
            self.rate_per_s * POINTS,
            np.ascontiguousarray(mu[:, None] + loaded[None, :]),
            np.full((len(contention), len(POINTS)), self.sigma),
            self.highest_per_s,
        )


def slower(utilization: Floats | float) -> Floats:
    """ln of how much longer a request takes. At 0.6: ln 5; at 0.3: ln 2.24."""
    return np.asarray(np.log(SLOWER) / AT * utilization)


def pooled_latency(samples: LatencySamples, basis: str) -> PooledLatency:
    """Pools at least one sample. An unknown utilization is the mean of the others, and 0 where none is known."""
    utilization = busiest(samples.contention)
    known = utilization[~np.isnan(utilization)]
    utilization = np.where(np.isnan(utilization), known.mean() if len(known) else 0.0, utilization)
    at_mean = samples.mu - slower(utilization) + slower(float(utilization.mean()))
    sigma = float(np.sqrt((samples.sigma**2).mean()))
    rate = float(max(samples.rate_per_s.mean(), 1e-9))
    highest = float(samples.rate_per_s.max())
    return PooledLatency(float(at_mean.mean()), sigma, rate, float(utilization.mean()), basis, highest)


def unknown_latency(rate_per_s: float) -> PooledLatency:
    """The model of a service without samples: utilization alone. `rate_per_s`: the mean rate of a container."""
    return PooledLatency(0.0, SPREAD, max(rate_per_s, 1e-9), 0.0, "utilization alone: no latency samples")
