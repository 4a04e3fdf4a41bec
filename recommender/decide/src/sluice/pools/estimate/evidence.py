"""Decides whether there is enough evidence for an optimum, and whether the curve shows one. Each rule on samples is a
constant and a test.

A wrong shrink costs goodput at once; "not known yet" costs nothing. So every rule errs on the side of not knowing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from sluice.pools.estimate.curve import Curve
from sluice.pools.estimate.in_time import Mask, in_turns
from sluice.pools.estimate.samples import Floats, Samples

# Sizes whose fitted goodput is within 10 % of the best are not distinguished from it.
DISTINCT = 0.10
# A fall: the fit ends more than 10 % below its best, and at least 5 buckets above the band have a mean below the band's
# by at least 3 standard errors. (The rule must not require this mean to be 10 % below as well: a curve that ends 12.6 %
# under its peak, where it is 8 % below the band's, would neither fall nor be flat.)
MIN_COMPARED = 5
FALL_STANDARD_ERRORS = 3.0
# A flat part: no fall, and the last concurrency is at least twice that where the band begins. For the saturating curve
# x / (1 + x/K) such a band goes from 4 K to 8 K: 80 % and 89 % of the maximum. (With 1.5, 16 % of scatters that end at
# 0.7 of their optimum counted as flat; with 2, 1 %.)
FLAT_RATIO = 2.0


@dataclass(frozen=True)
class Need:
    """The evidence that a curve needs before it counts.

    buckets    30 s of traffic at 100 ms: half a window, so that it has more than one burst
    levels     a polynomial of degree 5 has 6 coefficients: with fewer levels it would pass through every point
    coverage   (p95 - p5) / p95 of concurrency. A steady load between 40 and 60 has about 0.3, and a knee in it is noise
               of its edges; a bursty one between 2 and 40 has 0.95
    buckets_per_point  each point of the fit has at least this many buckets (Poisson noise of a bucket with 10
               completions: 32 %; of the mean of 10 buckets: 10 %)
    """

    buckets: int = 300
    levels: int = 6
    coverage: float = 0.5
    buckets_per_point: int = 10


NEED = Need()
# Means need a standard error, however long the buckets.
LEAST_BUCKETS = 60


def need_at(bucket_ms: int) -> Need:
    """The same time and the same completions in buckets of another length: 30 s, and 1 s for a point.

    At least 60 buckets and 5 for a point, since means need a standard error. 10 ms -> 3000 and 100; 50 ms -> 600 and
    20; 100 ms -> 300 and 10; 200 ms -> 150 and 5; 500 ms -> 60 and 5.
    """
    return replace(NEED, buckets=max(LEAST_BUCKETS, 30_000 // bucket_ms), buckets_per_point=max(5, 1_000 // bucket_ms))


@dataclass(frozen=True)
class Top:
    """Best goodput of the fit, and the band of concurrency that is not distinguished from it.

    lower..upper: mean concurrency of the band's outer points; first: smallest concurrency that reaches 95 % of the
    best.
    """

    goodput_per_s: float
    lower: float
    upper: float
    first: float


def lacking(samples: Samples, levels: int, need: Need) -> str | None:
    """What evidence is missing before a curve counts, in words; None when nothing is."""
    if len(samples) < need.buckets:
        return f"{len(samples)} buckets with traffic, {need.buckets} are needed"
    if levels < need.levels:
        return f"{levels} levels of concurrency seen, {need.levels} are needed"
    low, high = np.quantile(samples.concurrency, [0.05, 0.95])
    coverage = 1 - low / high
    if coverage < need.coverage:
        coverage_text = f"coverage {coverage:.2f}, {need.coverage} is needed"
        return f"concurrency stayed between {low:.1f} and {high:.1f} ({coverage_text})"
    return None


def find_top(points: Curve, fitted: Floats, samples: Samples, distinct: float = DISTINCT) -> Top:
    """The band around the best of a unimodal fit; `fitted` has the shape of `points`.

    A point belongs to the band when its fit, and that of all points between, is less than `distinct` (a share of the
    best) plus one standard error of the difference below the best.
    """
    x = points.concurrency
    peak = int(np.argmax(fitted))
    best = float(fitted[peak])
    error = standard_errors(x, samples)
    outside = fitted < (1 - distinct) * best - np.hypot(error, error[peak])
    left, after = np.flatnonzero(outside[:peak]), np.flatnonzero(outside[peak:])
    low = int(left[-1]) + 1 if len(left) else 0
    high = peak + int(after[0]) - 1 if len(after) else len(x) - 1
    first = int(np.argmax(fitted >= 0.95 * best))
    return Top(best, lower=float(x[low]), upper=float(x[high]), first=float(x[first]))


class End(Enum):
    """How the rise of goodput ends; NONE while it rises. ONCE: only buckets of different times show the end, which may
    be other requests."""

    NONE = 0
    ONCE = 1
    FALL = 2
    FLAT = 3


def end_of_rise(points: Curve, fitted: Floats, samples: Samples) -> End:
    """A fall if there is one, else a flat part where the band is wide enough, else none: each curve has exactly one of
    these.

    `fitted` has the shape of `points`. An end counts where it is seen in turns, since a change of the load looks like a
    fall too.
    """
    for end, parts, holds in (
        (End.FALL, falling(points, fitted, samples), falls),
        (End.FLAT, flat(points, fitted, samples), level),
    ):
        if parts is not None:
            return end if _in_turns(samples, *parts, holds) else End.ONCE
    return End.NONE


def _in_turns(samples: Samples, first: Mask, second: Mask, holds: Callable[[Floats, Floats], bool]) -> bool:
    """Also True where the times of the buckets are unknown."""
    goodput, times = samples.goodput_per_s, samples.start_ms
    return times is None or in_turns(times, first, second, lambda one, other: holds(goodput[one], goodput[other]))


def falling(points: Curve, fitted: Floats, samples: Samples) -> tuple[Mask, Mask] | None:
    """Whether goodput above the points within `DISTINCT` of the best is lower, by more than noise explains.

    If it is: the buckets of those points, and the ones above. Where the fit ends within `DISTINCT` there are none
    above.
    """
    band = np.flatnonzero(fitted >= (1 - DISTINCT) * fitted.max())
    edges = _edges(points.concurrency)
    begin, end = edges[band[0]], edges[band[-1] + 1]
    inside = (samples.concurrency >= begin) & (samples.concurrency <= end)
    after = samples.concurrency > end
    return (inside, after) if falls(samples.goodput_per_s[inside], samples.goodput_per_s[after]) else None


def falls(inside: Floats, after: Floats) -> bool:
    """Whether the mean of the second is lower by more than noise explains."""
    if min(len(after), len(inside)) < MIN_COMPARED:
        return False
    drop = inside.mean() - after.mean()
    noise = np.sqrt(inside.var(ddof=1) / len(inside) + after.var(ddof=1) / len(after))
    return bool(drop > 0 and drop >= FALL_STANDARD_ERRORS * noise)


def flat(points: Curve, fitted: Floats, samples: Samples) -> tuple[Mask, Mask] | None:
    """Whether goodput, which does not fall, stays near its best over a wide enough range, up to the end.

    The range begins at the first point of a unimodal fit within `DISTINCT` of the best. It has no allowance for noise
    as `find_top` has, since noise would make the end of a rising curve look flat. If it is flat: the buckets on either
    side of the middle of that range, by ratio.
    """
    if rising(points, fitted) or falling(points, fitted, samples) is not None:
        return None
    begin, end = _near_best(points, fitted)
    middle = float(np.sqrt(begin * end))
    return (samples.concurrency >= begin) & (samples.concurrency < middle), samples.concurrency >= middle


def rising(points: Curve, fitted: Floats) -> bool:
    """Whether the fit first comes near the best in the last part of the range. A curve that does not fall then still
    rises."""
    begin, end = _near_best(points, fitted)
    return end < FLAT_RATIO * begin


def _near_best(points: Curve, fitted: Floats) -> tuple[float, float]:
    """The concurrency of the first point within `DISTINCT` of the best, and of the last point of all."""
    near = int(np.argmax(fitted >= (1 - DISTINCT) * fitted.max()))
    return float(points.concurrency[near]), float(points.concurrency[-1])


def level(lower: Floats, upper: Floats) -> bool:
    """Whether the mean of the second is not higher by `DISTINCT` and by more than noise explains."""
    if min(len(lower), len(upper)) < MIN_COMPARED:
        return False
    rise = upper.mean() - lower.mean()
    noise = np.sqrt(lower.var(ddof=1) / len(lower) + upper.var(ddof=1) / len(upper))
    return bool(rise <= max(DISTINCT * upper.mean(), FALL_STANDARD_ERRORS * noise))


def _edges(x: Floats) -> Floats:
    """The borders between the buckets of each point: half way to the next; shape (m + 1,), the outer ones infinite."""
    return np.concatenate(([-np.inf], (x[:-1] + x[1:]) / 2, [np.inf]))


def standard_errors(x: Floats, samples: Samples) -> Floats:
    """Standard error of the mean goodput of each point at `x`, shape (m,)."""
    m = len(x)
    index = np.searchsorted(_edges(x)[1:-1], samples.concurrency, side="right")
    count = np.maximum(np.bincount(index, minlength=m), 1)
    mean = np.bincount(index, weights=samples.goodput_per_s, minlength=m) / count
    squares = np.bincount(index, weights=(samples.goodput_per_s - mean[index]) ** 2, minlength=m)
    return np.asarray(np.sqrt(squares / np.maximum(count - 1, 1) / count), dtype=np.float64)
