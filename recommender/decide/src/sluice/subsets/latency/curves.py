"""The latency of containers over their load, each on its own host, as lines between points."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import numpy as np

from sluice.fast.compiled import compiled
from sluice.subsets.fleet import Floats

# Beyond the highest observed rate, ln(latency) grows by this times ln(rate / highest): twice the rate gives four times
# the latency, as for a queue at 2/3 of its capacity. With a flat model there, one container would get all calls.
BEYOND = 2.0
# From this many times the highest rate on, growth levels off. The most that a load beyond the samples adds is a factor
# of FAR^2 e^2 = 118: further away the model knows nothing.
FAR = 4.0


@dataclass(frozen=True, eq=False)
class Curves:
    """n containers of a service. rate_per_s: (k,), rising; the last one is the highest observed rate. mu, sigma: (n, k)
    of ln(latency in ms). Below the first rate a curve is flat.

    highest_per_s: the highest rate of a latency sample; inf without samples. busiest: (3,) the highest utilizations of
    the samples, beyond which a curve does not change; None where it does.
    """

    rate_per_s: Floats
    mu: Floats
    sigma: Floats
    highest_per_s: float = inf
    busiest: Floats | None = None

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
            times = load / rate[last]
            more = log(times) if times <= FAR else log(FAR) + 1.0 - FAR / times
            values_at[row] = values[row, last] + beyond * more
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
