"""Windows of a made pool, for tests of what is learnt and decided: without chance, and its best size is known."""

from dataclasses import dataclass

import numpy as np

from sluice.pools.estimate.belief.evidence import Evidence, second
from sluice.pools.policy.observation import Buckets

BUCKET_S = 0.1


@dataclass(frozen=True)
class Curve:
    """Throughput speed * n / (1 + contention (n - 1) + crosstalk n (n - 1)), per second."""

    speed: float = 50.0
    contention: float = 0.02
    crosstalk: float = 0.004

    def throughput(self, n: float) -> float:
        return self.speed * n / (1 + self.contention * (n - 1) + self.crosstalk * n * (n - 1))

    def best(self) -> int:
        return max(range(1, 200), key=self.throughput)


# Worked: d/dn of n / (0.98 + 0.016 n + 0.004 n^2) is 0 at n^2 = 0.98 / 0.004, n = 15.7; 16 completes 364 a second,
# 64 completes 176.
FALLS = Curve()


def buckets(
    start_ms: int,
    seconds: float,
    size: float,
    in_flight: float,
    rate: float,
    cores: float = 4.0,
    bucket_s: float = BUCKET_S,
) -> Buckets:
    """As many in flight all the time, completing `rate` a second."""
    count = round(seconds / bucket_s)
    return Buckets(
        start_ms=start_ms + np.arange(count) * round(1_000 * bucket_s),
        concurrency=np.full(count, float(in_flight)),
        completions=np.full(count, rate * bucket_s),
        size=np.full(count, float(size)),
        cores=np.full(count, cores),
        bucket_s=bucket_s,
    )


def full(start_ms: int, seconds: float, size: int, curve: Curve = FALLS, cores: float = 4.0) -> Buckets:
    """Of a pool whose threads are all taken."""
    return buckets(start_ms, seconds, size, size, curve.throughput(size), cores)


def joined(*parts: Buckets) -> Buckets:
    return Buckets(
        np.concatenate([part.start_ms for part in parts]),
        np.concatenate([part.concurrency for part in parts]),
        np.concatenate([part.completions for part in parts]),
        parts[0].bucket_s if parts else BUCKET_S,
        np.concatenate([part.size for part in parts]),
        np.concatenate([part.cores for part in parts]),
    )


def nothing() -> Buckets:
    return buckets(0, 0, 1, 1, 1)


def evidence(*sizes: int, seconds: int = 20, curve: Curve = FALLS, cores: float = 4.0) -> Evidence:
    """Of so many full seconds at each size, one after the other."""
    total = Evidence()
    for size in sizes:
        part = full(0, 1, size, curve, cores)
        observed = second(cores, size, part.concurrency, part.completions, part.bucket_s)
        assert observed is not None
        for _ in range(seconds):
            total = total.with_second(observed)
    return total


def seconds_of(evidence: Evidence) -> float:
    return sum(level.seconds for level in evidence.levels)
