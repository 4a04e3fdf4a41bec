"""SCG, the scatter-concurrency-goodput model (Sora 3.2 and 3.3), with tests of its evidence.

The paper averages goodput per level of concurrency and fits a polynomial. It raises the degree from 5 to 8 until it
gives "an estimation that matches the profiling data", and takes Kneedle's knee as the pool size. Sluice adds:

- A test for "matches the data". A knee counts when the goodput there is within 10 % of the best, by a unimodal fit of
  the same points. If none of the four degrees gives such a knee, the size is the smallest concurrency that reaches 95 %
  of the best of that fit. (The lowest degree that yields any knee at all is often far off.)
- Buckets in which the pool was full are left out (see `Samples.full`). After a good shrink, the queue for the pool
  would otherwise look like a fall, and each estimate would be smaller than the last.
- A size needs enough evidence of the curve (else LEARNING), and a fall or a flat part in it (else UNSATURATED).
"""

from __future__ import annotations

from sluice.model.reason import Reason
from sluice.pools.estimate.curve import Curve
from sluice.pools.estimate.evidence import NEED, Need, Top
from sluice.pools.estimate.kneedle import DEGREES, Knee, find_knee
from sluice.pools.estimate.model import Estimate
from sluice.pools.estimate.reading import Reading, read
from sluice.pools.estimate.samples import Samples


class Scg:
    """Sora's estimator with tests of its evidence; satisfies `Estimator`."""

    name = "scg"

    def __init__(self, need: Need = NEED) -> None:
        self._need = need

    def estimate(self, samples: Samples | None) -> Estimate:
        reading = read(samples, self._need)
        return reading if isinstance(reading, Estimate) else _provided(reading)


def _provided(reading: Reading) -> Estimate:
    top = reading.top
    knee = _matching_knee(reading.curve, top)
    if knee is None:
        band = f"{top.lower:.1f}..{top.upper:.1f}"
        text = f"no knee of degree 5 to 8 lies in {band}: smallest concurrency at 95 % of the best"
        return reading.provided(top.first, Reason("UNIMODAL_FIT", text), top.lower, top.upper, methods_agree=False)
    how = Reason("KNEE", f"knee of degree {knee.degree} at {knee.concurrency:.1f} in flight")
    return reading.provided(knee.concurrency, how, top.lower, top.upper, True, knee)


def _matching_knee(curve: Curve, top: Top) -> Knee | None:
    """The knee of the lowest degree whose knee lies in the band (Sora 3.3, "incremental tuning")."""
    for degree in DEGREES:
        knee = find_knee(curve, degree)
        if knee is not None and top.lower <= knee.concurrency <= top.upper:
            return knee
    return None
