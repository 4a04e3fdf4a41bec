"""Synthetic services whose best concurrency is known: the universal scalability law with log-normal response times."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from sluice.pools.estimate import Samples

BUCKETS = 600
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Service:
    """Throughput rate * n / (1 + contention (n - 1) + crosstalk n (n - 1)); spread: of ln(response time)."""

    rate: float
    contention: float
    crosstalk: float
    threshold_s: float
    spread: float

    def throughput(self, n: Floats) -> Floats:
        return self.rate * n / (1 + self.contention * (n - 1) + self.crosstalk * n * (n - 1))

    def goodput(self, n: Floats) -> Floats:
        """Expected completions per second within the threshold with n in flight (response time by Little's law)."""
        rate = self.throughput(n)
        late = (np.log(self.threshold_s * rate / n) + self.spread**2 / 2) / self.spread
        return np.asarray(rate * norm.cdf(late))

    def best(self) -> int:
        return int(np.argmax(self.goodput(np.arange(1.0, 400.0)))) + 1


def draw_service(rng: np.random.Generator) -> Service:
    rate = rng.uniform(10, 50)
    return Service(
        rate=rate,
        contention=rng.uniform(0, 0.08),
        crosstalk=10 ** rng.uniform(-4, -2.3),
        threshold_s=rng.uniform(3, 20) / rate,
        spread=rng.uniform(0.3, 0.8),
    )


def draw_samples(rng: np.random.Generator, service: Service, highest: float, limit: float = np.nan) -> Samples:
    """A minute of bursts that reach `highest` in flight; completions are Poisson."""
    t = np.arange(BUCKETS) * 0.1
    burst = 0.5 - 0.5 * np.cos(2 * np.pi * t / rng.uniform(15, 40) + rng.uniform(0, 6))
    concurrency = highest * burst ** rng.uniform(0.7, 2.5) * np.exp(rng.normal(0, 0.15, BUCKETS))
    concurrency = np.asarray(np.maximum(concurrency, 0.05), dtype=np.float64)
    good = rng.poisson(service.goodput(concurrency) / 10)
    done = np.maximum(rng.poisson(service.throughput(concurrency) / 10), good)
    return Samples(
        concurrency,
        np.asarray(good * 10.0, dtype=np.float64),
        np.asarray(done * 10.0, dtype=np.float64),
        done.astype(np.float64),
        np.full(BUCKETS, limit),
        1,
        True,
    )


def samples_of(concurrency: Floats, goodput: Floats, limit: float = np.nan, caller_judged: bool = True) -> Samples:
    """Samples without noise."""
    completions = np.maximum(goodput / 10, 1.0)
    return Samples(
        np.asarray(concurrency, dtype=np.float64),
        np.asarray(goodput, dtype=np.float64),
        np.asarray(goodput, dtype=np.float64),
        completions,
        np.full(len(concurrency), limit),
        1,
        caller_judged,
    )
