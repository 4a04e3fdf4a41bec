"""Is there enough evidence for an optimum, and does the curve show one? Rules on samples, each a constant and a test.

A wrong shrink costs goodput at once; "not known yet" costs nothing. So every rule errs on the side of not knowing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.estimate.curve import Curve
from sluice.estimate.samples import Floats, Samples

# 10 s of traffic at 100 ms. Under it, the mean of one level has a handful of buckets.
MIN_BUCKETS = 100
# A polynomial of degree 5 has 6 coefficients: with fewer levels it would pass through every point.
MIN_LEVELS = 6
# (p95 - p5) / p95 of concurrency. A steady load between 40 and 60 has about 0.3, and a knee found in it is noise of
# its edges; a bursty one between 2 and 40 has 0.95.
MIN_COVERAGE = 0.5
# Points of the fit stand on at least this many buckets (Poisson noise of a bucket with 10 completions: 32 %; of the
# mean of 10 buckets: 10 %).
BUCKETS_PER_POINT = 10
# Sizes whose fitted goodput is within 10 % of the best are not told apart from it.
TOLD_APART = 0.10
# A fall: buckets above the band have a mean at least 10 % below the top, by at least 3 standard errors.
FALL = 0.10
FALL_STANDARD_ERRORS = 3.0
# A flat part: the band reaches at least twice the concurrency where it begins. For the saturating curve
# x / (1 + x/K) such a band goes from 4 K to 8 K: 80 % and 89 % of all there is. (1.5 called 16 % of scatters flat that
# end at 0.7 of their optimum; 2 calls 1 %.)
FLAT_RATIO = 2.0
# The pool hides what lies beyond it when it was full in a tenth of the buckets.
LIMITED_SHARE = 0.10


@dataclass(frozen=True)
class Top:
    """Best goodput of the fit and the band of concurrency that is not told apart from it (`TOLD_APART`).

    lower..upper: mean concurrency of the band's outer points; begin..end: where its buckets begin and end, half way to
    the neighbouring points. first: smallest concurrency that reaches 95 % of the best.
    """

    goodput_per_s: float
    lower: float
    upper: float
    begin: float
    end: float
    first: float


def lacking(samples: Samples, levels: int) -> str | None:
    """What the evidence lacks before any curve can be believed, in words; None when nothing."""
    if len(samples) < MIN_BUCKETS:
        return f"{len(samples)} buckets with traffic, {MIN_BUCKETS} are needed"
    if levels < MIN_LEVELS:
        return f"{levels} levels of concurrency seen, {MIN_LEVELS} are needed"
    low, high = np.quantile(samples.concurrency, [0.05, 0.95])
    coverage = 1 - low / high
    if coverage < MIN_COVERAGE:
        return (
            f"concurrency stayed between {low:.1f} and {high:.1f} (coverage {coverage:.2f}, {MIN_COVERAGE} is needed)"
        )
    return None


def find_top(points: Curve, fitted: Floats) -> Top:
    """The band around the best of a unimodal fit; `fitted` has the shape of `points`."""
    x = points.concurrency
    edges = np.concatenate(([-np.inf], (x[:-1] + x[1:]) / 2, [np.inf]))
    best = float(fitted.max())
    band = np.flatnonzero(fitted >= (1 - TOLD_APART) * best)
    first = int(np.argmax(fitted >= 0.95 * best))
    return Top(
        best,
        lower=float(x[band[0]]),
        upper=float(x[band[-1]]),
        begin=float(edges[band[0]]),
        end=float(edges[band[-1] + 1]),
        first=float(x[first]),
    )


def falls_after(top: Top, samples: Samples) -> bool:
    """Whether goodput above the band is lower, by more than noise explains."""
    inside = samples.goodput_per_s[(samples.concurrency >= top.begin) & (samples.concurrency <= top.end)]
    after = samples.goodput_per_s[samples.concurrency > top.end]
    if len(after) < BUCKETS_PER_POINT or len(inside) < BUCKETS_PER_POINT:
        return False
    drop = inside.mean() - after.mean()
    noise = np.sqrt(inside.var(ddof=1) / len(inside) + after.var(ddof=1) / len(after))
    return bool(drop >= FALL * inside.mean() and drop >= FALL_STANDARD_ERRORS * noise)


def is_flat(top: Top, highest: float) -> bool:
    """Whether the band is wide and reaches up to the `highest` concurrency of the fit."""
    return top.upper >= highest and top.upper >= FLAT_RATIO * top.lower


def is_limited(samples: Samples) -> bool:
    """Whether the pool was full so often that what lies beyond its size was not seen."""
    return len(samples) > 0 and float(np.mean(samples.full())) >= LIMITED_SHARE


def works_hardest_when_full(samples: Samples) -> bool:
    """Whether more completes per second while the pool is full than while it is at least half full.

    Tells a pool that is too small, which hides the curve, from one that thrashes when full: a size is never raised on
    the ground that a pool is full alone, or a steady overload would raise it without end.
    """
    full = samples.full()
    half = ~full & (samples.concurrency >= samples.limit / 2)
    if full.sum() < BUCKETS_PER_POINT or half.sum() < BUCKETS_PER_POINT:
        return False
    return bool(samples.completions[full].mean() > samples.completions[half].mean())
