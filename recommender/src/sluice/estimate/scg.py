"""SCG, the scatter-concurrency-goodput model (Sora 3.2 and 3.3), kept to what the data show.

The paper: average goodput per level of concurrency, fit a polynomial, raise its degree from 5 to 8 until it gives "an
estimation that matches the profiling data", and take Kneedle's knee as the pool size. What is added here:

- "matches the data" is made a test. A knee counts when the goodput there is within 10 % of the best, by a unimodal
  fit of the same points; if none of the four degrees gives such a knee, the smallest concurrency that reaches 95 %
  of the best of that fit is taken. (The lowest degree that yields any knee at all is often far off.)
- Buckets in which the pool was full are left out (see `Samples.full`): after a good shrink, the queue for the pool
  would otherwise look like a fall, and each answer would be smaller than the last.
- The curve must have been seen (LEARNING), and must show a fall or a flat part (UNSATURATED), before a size is named.

States, in this order: NO_DATA nothing completed; UNSATURATED when the pool itself hides the curve; LEARNING when
something is lacking; UNSATURATED while goodput still rises; PROVIDED.
"""

from __future__ import annotations

import math

from sluice.estimate import evidence
from sluice.estimate.confidence import confidence
from sluice.estimate.curve import Curve, merge_thin, per_level
from sluice.estimate.evidence import Top
from sluice.estimate.kneedle import DEGREES, Knee, find_knee
from sluice.estimate.model import Estimate, Reason, State
from sluice.estimate.samples import Samples
from sluice.estimate.unimodal import unimodal_fit


class Scg:
    """Sora's estimator; satisfies `Estimator`."""

    name = "scg"

    def estimate(self, samples: Samples | None) -> Estimate:
        if samples is None or len(samples) == 0 or samples.completions.sum() == 0:
            return Estimate(State.NO_DATA, (Reason("NO_SPANS", "no completed span of this pool in the window"),))
        whole = per_level(samples)
        limited = evidence.is_limited(samples)
        open_samples = samples.take(~samples.full())
        curve = per_level(open_samples) if len(open_samples) else whole
        missing = evidence.lacking(open_samples, len(curve))
        if missing is not None:
            if limited and len(samples) >= evidence.MIN_BUCKETS and evidence.works_hardest_when_full(samples):
                return _unsaturated(whole, samples, limited)
            return Estimate(State.LEARNING, (Reason("TOO_LITTLE_SEEN", missing),), curve=whole, pool_limited=limited)
        points = merge_thin(curve, evidence.BUCKETS_PER_POINT)
        fitted = unimodal_fit(points.goodput_per_s, points.count)
        top = evidence.find_top(points, fitted, open_samples)
        if top.goodput_per_s <= 0:
            nothing = Reason("NO_GOODPUT", "no completion within the threshold at any concurrency")
            return Estimate(State.LEARNING, (nothing,), curve=curve, pool_limited=limited)
        falls = evidence.falls(points, fitted, open_samples)
        if not falls and not evidence.is_flat(points, fitted):
            return _unsaturated(curve, open_samples, limited)
        return _provided(curve, open_samples, top, falls, limited)


def _unsaturated(curve: Curve, samples: Samples, limited: bool) -> Estimate:
    highest = samples.concurrency.max()
    reasons = [Reason("STILL_RISING", f"no fall and no flat part up to {highest:.1f} in flight: not shrunk")]
    if limited:
        share = evidence.LIMITED_SHARE
        reasons.append(Reason("POOL_LIMITED", f"the pool was full in at least {share:.0%} of the buckets"))
    return Estimate(State.UNSATURATED, tuple(reasons), curve=curve, pool_limited=limited)


def _provided(curve: Curve, samples: Samples, top: Top, falls: bool, limited: bool) -> Estimate:
    knee = _matching_knee(curve, top)
    concurrency = top.first if knee is None else knee.concurrency
    if falls:
        reasons = [Reason("CURVE_FALLS", f"goodput falls above {top.upper:.1f} in flight")]
    else:
        reasons = [Reason("CURVE_FLAT", f"goodput stays flat from {top.lower:.1f} in flight")]
    if knee is None:
        band = f"{top.lower:.1f}..{top.upper:.1f}"
        text = f"no knee of degree 5 to 8 lies in {band}: smallest concurrency at 95 % of the best"
        reasons.append(Reason("UNIMODAL_FIT", text))
    else:
        reasons.append(Reason("KNEE", f"knee of degree {knee.degree} at {knee.concurrency:.1f} in flight"))
    if not samples.caller_judged:
        reasons.append(Reason("OWN_SPANS", "no caller's spans: judged by the pool's own, which lack the wait for it"))
    return Estimate(
        State.PROVIDED,
        tuple(reasons),
        # A size of 12 lets the mean in flight reach 11.6: the next whole number up.
        target=max(1, math.ceil(concurrency)),
        lower_bound=max(1, math.ceil(top.lower)),
        upper_bound=max(1, math.ceil(top.upper)),
        confidence=confidence(
            len(samples),
            top.lower,
            top.upper,
            float(samples.concurrency.max()),
            knee is not None,
            samples.caller_judged,
        ),
        curve=curve,
        knee=concurrency,
        polynomial_degree=0 if knee is None else knee.degree,
        fitted_per_s=None if knee is None else knee.fitted_per_s,
        pool_limited=limited,
    )


def _matching_knee(curve: Curve, top: Top) -> Knee | None:
    """The knee of the lowest degree whose knee lies in the band (Sora 3.3, "incremental tuning")."""
    for degree in DEGREES:
        knee = find_knee(curve, degree)
        if knee is not None and top.lower <= knee.concurrency <= top.upper:
            return knee
    return None
