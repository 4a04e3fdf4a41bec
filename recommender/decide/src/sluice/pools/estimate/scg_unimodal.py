"""SCG with a shape instead of a formula: goodput rises and then falls, and the smallest size near its top is enough.

target = the smallest concurrency that reaches (1 - eps) of the best goodput of a unimodal fit, eps = 5 %. The interval
holds it in 90 % of resamples (`bootstrap.py`). Satisfies design section 4, "shape-constrained".
"""

from __future__ import annotations

import numpy as np

from sluice.model.reason import Reason
from sluice.pools.estimate.bootstrap import first_reaching
from sluice.pools.estimate.evidence import NEED, Need, standard_errors
from sluice.pools.estimate.model import Estimate
from sluice.pools.estimate.reading import read
from sluice.pools.estimate.samples import Samples

EPS = 0.05
INTERVAL = (0.05, 0.95)


class ScgUnimodal:
    """The shape-constrained estimator; satisfies `Estimator`."""

    name = "scg-unimodal"

    def __init__(self, need: Need = NEED) -> None:
        self._need = need

    def estimate(self, samples: Samples | None) -> Estimate:
        reading = read(samples, self._need)
        if isinstance(reading, Estimate):
            return reading
        top, points = reading.top, reading.points
        rise = slice(0, int(np.argmax(reading.fitted)) + 1)
        error = standard_errors(points.concurrency, reading.samples)
        firsts = first_reaching(points.concurrency[rise], points.goodput_per_s[rise], error[rise], 1 - EPS)
        low, high = np.quantile(firsts, INTERVAL)
        low, high = min(float(low), top.first), max(float(high), top.first)
        how = Reason("UNIMODAL_FIT", f"smallest concurrency at {1 - EPS:.0%} of the best")
        return reading.provided(top.first, how, low, high, methods_agree=True)
