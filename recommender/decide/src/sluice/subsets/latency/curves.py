"""The latency of containers over their load, each on its own host, as lines between points."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from sluice.fast.compiled import compiled
from sluice.subsets.fleet import Floats

# Beyond the highest observed rate, ln(latency) grows by this times ln(rate / highest): twice the rate gives four times
# the latency, as for a queue at 2/3 of its capacity. With a flat model there, one container would get all calls.
BEYOND = 2.0


@dataclass(frozen=True, eq=False)
class Curves:
    """n containers of a service. rate_per_s: (k,), rising; the last one is the highest observed rate. mu, sigma: (n, k)
    of ln(latency in ms). Below the first rate a curve is flat."""

    rate_per_s: Floats
    mu: Floats
    sigma: Floats

    def at(self, work: Floats) -> tuple[Floats, Floats]:
        """mu and sigma at loads `work`, (n,) each."""
        return _at(self.rate_per_s, self.mu, work, BEYOND), _at(self.rate_per_s, self.sigma, work, 0.0)


@compiled
def _at(rate: Floats, values: Floats, work: Floats, beyond: float) -> Floats:
    values_at = np.empty(len(work))
    last = len(rate) - 1
    for row in range(len(work)):
        load = work[row]
        if load <= rate[0]:
            values_at[row] = values[row, 0]
        elif load >= rate[last]:
            values_at[row] = values[row, last] + beyond * log(load / rate[last])
        else:
            low, high = 0, last
            while high - low > 1:
                middle = (low + high) // 2
                if rate[middle] <= load:
                    low = middle
                else:
                    high = middle
            part = (load - rate[low]) / (rate[high] - rate[low])
            values_at[row] = values[row, low] + part * (values[row, high] - values[row, low])
    return values_at
