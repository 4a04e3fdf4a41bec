"""Latency samples of containers: rows of `container_latency`, or of a CSV."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.subsets.fleet import Floats


@dataclass(frozen=True, eq=False)
class LatencySamples:
    """n windows of containers of one service.

    rate_per_s: (n,) calls to the container. contention: (n, 3) CPU, memory bandwidth and network utilization of its
    host, ratios; NaN where no metric gives one. mu, sigma: (n,) of ln(latency in ms).
    """

    rate_per_s: Floats
    contention: Floats
    mu: Floats
    sigma: Floats

    def __len__(self) -> int:
        return len(self.rate_per_s)

    def features(self) -> NDArray[np.float32]:
        """(n, 4): rate and contention, in the precision that trees compare."""
        return np.column_stack([self.rate_per_s, self.contention]).astype(np.float32)

    def where(self, chosen: NDArray[np.bool_]) -> LatencySamples:
        return LatencySamples(self.rate_per_s[chosen], self.contention[chosen], self.mu[chosen], self.sigma[chosen])


def pooled(several: list[LatencySamples]) -> LatencySamples:
    """The samples of several services as those of one."""
    return LatencySamples(
        np.concatenate([service.rate_per_s for service in several]),
        np.concatenate([service.contention for service in several]),
        np.concatenate([service.mu for service in several]),
        np.concatenate([service.sigma for service in several]),
    )
