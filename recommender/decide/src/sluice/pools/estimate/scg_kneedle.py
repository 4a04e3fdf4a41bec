"""SCG as the paper states it (Sora 3.2, 3.3): the lowest polynomial degree of 5 to 8 that yields a knee, and that knee.

It has no test of evidence: it names a size also where the curve only rises or there is too little evidence, and since a
full pool hides the curve, each size that it names is smaller than the last. So it serves comparison, and nobody is to
apply it; `tests/bench/results/estimators.md` has what that costs. A pool with an actuator should use `scg`.
"""

from __future__ import annotations

from sluice.model.reason import Reason
from sluice.model.states import State
from sluice.pools.estimate.curve import per_level
from sluice.pools.estimate.kneedle import DEGREES, find_knee
from sluice.pools.estimate.model import OWN_SPANS, Estimate, whole_size
from sluice.pools.estimate.samples import Samples

# The paper has no measure of confidence.
CONFIDENCE = 0.5


class ScgKneedle:
    """Sora's estimator as published; satisfies `Estimator`."""

    name = "scg-kneedle"

    def estimate(self, samples: Samples | None) -> Estimate:
        if samples is None or len(samples) == 0 or samples.completions.sum() == 0:
            return Estimate(State.NO_DATA, (Reason("NO_SPANS", "no completed span of this pool in the window"),))
        curve = per_level(samples)
        knee = next(filter(None, (find_knee(curve, degree) for degree in DEGREES)), None)
        if knee is None:
            nothing = Reason("NO_KNEE", "no polynomial of degree 5 to 8 has a knee")
            return Estimate(State.LEARNING, (nothing,), curve=curve, compares=True)
        size = whole_size(knee.concurrency)
        reasons = [Reason("KNEE", f"knee of degree {knee.degree} at {knee.concurrency:.1f} in flight")]
        if not samples.caller_judged:
            reasons.append(OWN_SPANS)
        return Estimate(
            State.PROVIDED,
            tuple(reasons),
            target=size,
            lower_bound=size,
            upper_bound=size,
            confidence=CONFIDENCE,
            curve=curve,
            knee=knee.concurrency,
            polynomial_degree=knee.degree,
            fitted_per_s=knee.fitted_per_s,
            compares=True,
        )
