"""Reads a scatter before any estimator picks a size from it: whether there is enough evidence and an end of the rise.

States that end here, in this order: NO_DATA when nothing completed; UNSATURATED when the pool itself hides the curve;
LEARNING when evidence is missing; UNSATURATED while the curve still rises.
"""

from __future__ import annotations

from dataclasses import dataclass

from sluice.model.reason import Reason
from sluice.model.states import State
from sluice.pools.estimate import evidence, full_pool
from sluice.pools.estimate.confidence import confidence
from sluice.pools.estimate.curve import Curve, merge_thin, per_level
from sluice.pools.estimate.evidence import End, Need, Top
from sluice.pools.estimate.kneedle import Knee as Fit
from sluice.pools.estimate.model import OWN_SPANS, Estimate, whole_size
from sluice.pools.estimate.samples import Floats, Samples
from sluice.pools.estimate.unimodal import unimodal_fit


@dataclass(frozen=True)
class Reading:
    """A scatter with an end of the rise.

    samples  of goodput, without the buckets in which the pool was full (see `Samples.full`)
    curve    their mean per level; points: the same, each on enough buckets; fitted: unimodal, shape of points
    """

    samples: Samples
    curve: Curve
    points: Curve
    fitted: Floats
    top: Top
    falls: bool
    limited: bool

    def shape(self) -> Reason:
        """The reason that says how the rise ends."""
        if self.falls:
            return Reason("CURVE_FALLS", f"goodput falls above {self.top.upper:.1f} in flight")
        return Reason("CURVE_FLAT", f"goodput stays flat from {self.top.lower:.1f} in flight")

    def provided(
        self, concurrency: float, how: Reason, low: float, high: float, methods_agree: bool, fit: Fit | None = None
    ) -> Estimate:
        """PROVIDED, with `concurrency` as the size, [low, high] around it, and the method as a reason.

        methods_agree: whether two methods gave it (`confidence`).
        """
        reasons = [self.shape(), how]
        if not self.samples.caller_judged:
            reasons.append(OWN_SPANS)
        highest = float(self.samples.concurrency.max())
        return Estimate(
            State.PROVIDED,
            tuple(reasons),
            target=whole_size(concurrency),
            lower_bound=whole_size(low),
            upper_bound=whole_size(high),
            confidence=confidence(len(self.samples), low, high, highest, methods_agree, self.samples.caller_judged),
            curve=self.curve,
            knee=concurrency,
            polynomial_degree=0 if fit is None else fit.degree,
            fitted_per_s=None if fit is None else fit.fitted_per_s,
            pool_limited=self.limited,
        )


def read(
    samples: Samples | None, need: Need, distinct: float = evidence.DISTINCT, censored: bool = True
) -> Reading | Estimate:
    """The reading, or the estimate of a state without a size. censored: a full pool hides what a bucket would show, as
    it does of goodput; else full buckets count too."""
    if samples is None or len(samples) == 0 or samples.completions.sum() == 0:
        return Estimate(State.NO_DATA, (Reason("NO_SPANS", "no completed span of this pool in the window"),))
    whole = per_level(samples)
    limited = full_pool.is_limited(samples)
    open_samples = samples.take(~samples.full()) if censored else samples
    curve = per_level(open_samples) if len(open_samples) else whole
    missing = evidence.lacking(open_samples, len(curve), need)
    if missing is not None:
        if limited and len(samples) >= need.buckets and full_pool.works_hardest_when_full(samples):
            return _unsaturated(whole, samples, limited)
        return Estimate(State.LEARNING, (Reason("TOO_LITTLE_SEEN", missing),), curve=whole, pool_limited=limited)
    points = merge_thin(curve, need.buckets_per_point)
    fitted = unimodal_fit(points.goodput_per_s, points.count)
    top = evidence.find_top(points, fitted, open_samples, distinct)
    if top.goodput_per_s <= 0:
        nothing = Reason("NO_GOODPUT", "no completion within the threshold at any concurrency")
        return Estimate(State.LEARNING, (nothing,), curve=curve, pool_limited=limited)
    end = evidence.end_of_rise(points, fitted, open_samples)
    if end in (End.NONE, End.ONCE):
        return _unsaturated(curve, open_samples, limited, end)
    return Reading(open_samples, curve, points, fitted, top, end is End.FALL, limited)


def _unsaturated(curve: Curve, samples: Samples, limited: bool, end: End = End.NONE) -> Estimate:
    highest = samples.concurrency.max()
    reasons = [Reason("STILL_RISING", f"no fall and no flat part up to {highest:.1f} in flight: not shrunk")]
    if end is End.ONCE:
        text = "the rise ended, but only since some time: other requests may be the cause, so it does not count yet"
        reasons = [Reason("SEEN_ONCE", text)]
    if limited:
        share = full_pool.LIMITED_SHARE
        reasons.append(Reason("POOL_LIMITED", f"the pool was full in at least {share:.0%} of the buckets"))
    return Estimate(State.UNSATURATED, tuple(reasons), curve=curve, pool_limited=limited)
