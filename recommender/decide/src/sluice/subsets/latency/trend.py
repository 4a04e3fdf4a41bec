"""The trend of a container's latency: what trees alone do not follow between samples and beyond them.

    t(x) = b + c' f(x),   f(x) = (x, x^2, r u),   c >= 0

x are the rate r (as a part of the highest observed one) and the three utilizations u. b and c are the least squares
with a ridge of RIDGE. Each f rises with each x, so a trend with c >= 0 rises too: more load or more contention never
lowers the latency.

A tree predicts the mean of the samples in a box, so a sum of trees is too low where a host is as busy as the busiest
samples or busier, and too high at the other end. Trees on what the trend leaves have that error of the rest alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.subsets.fleet import Floats
from sluice.subsets.latency.samples import LatencySamples

# Weight of the squares of c, as a part of the number of samples: it holds what two alike columns share.
RIDGE = 1e-3
# 4 of x, 4 squares, 3 products of the rate with a utilization.
TERMS = 11


@dataclass(frozen=True, eq=False)
class Trend:
    """highest_per_s: the rate that counts as 1. base: b. slopes: c, (TERMS,)."""

    highest_per_s: float
    base: float
    slopes: Floats

    def of(self, samples: LatencySamples) -> Floats:
        """At each sample, (n,)."""
        return self.base + _terms(samples.rate_per_s / self.highest_per_s, samples.contention) @ self.slopes

    def over(self, rates: Floats, contention: Floats) -> Floats:
        """At each of (k,) rates for (n, 3) hosts, (n, k)."""
        part = rates / self.highest_per_s
        of_hosts = _terms(np.zeros(len(contention)), contention) @ self.slopes
        of_rates = self.slopes[0] * part + self.slopes[4] * part**2
        both = np.outer(contention @ self.slopes[8:], part)
        total: Floats = self.base + of_hosts[:, None] + of_rates[None, :] + both
        return total


#: Adds nothing.
NONE = Trend(1.0, 0.0, np.zeros(TERMS))


def trend_of(samples: LatencySamples, values: Floats) -> Trend:
    """The trend of `values`, (n,), one a sample, at least one.

    Worked: mu of 1, 2 and 3 at 10, 20 and 30 calls a second on equal hosts: 1.03, 1.95 and 3.02, as the ridge prefers a
    slope on r, one on r^2 and ones on r u to one of 3 on r.
    """
    from scipy.optimize import nnls

    highest = max(float(samples.rate_per_s.max()), 1e-9)
    terms = _terms(samples.rate_per_s / highest, samples.contention)
    middle, mean = terms.mean(axis=0), float(values.mean())
    ridge = np.sqrt(RIDGE * len(values)) * np.eye(TERMS)
    slopes, _ = nnls(np.vstack([terms - middle, ridge]), np.append(values - mean, np.zeros(TERMS)))
    return Trend(highest, mean - float(middle @ slopes), slopes)


def _terms(part: Floats, contention: Floats) -> Floats:
    """(n, TERMS): x, its squares, and the rate by each utilization."""
    x = np.column_stack([part, contention])
    return np.column_stack([x, x**2, part[:, None] * contention])
