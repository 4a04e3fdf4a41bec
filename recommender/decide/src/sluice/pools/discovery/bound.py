"""Whether spans show that a pool bounds concurrency: an instance's number in flight stops at a level while its callers
have more and more in flight. Pure.

A flat level alone shows nothing: a constant number of users has one too. Nor do callers with more in flight: the
network may be slow. So all of these must hold for an instance, over five minutes of seconds:

1. Full seconds, at least 20 and at least 20 times as long as a request takes: the mean is at least 0.9 of the highest
   bucket, and nearer to it than the standard deviation of a flow without a bound. That flow's number in flight has the
   variance of its mean m (M/G/inf), less what buckets longer than a request average away: m min(1, 2 D / bucket). One
   bucket in six is then higher than the mean by more than the deviation, which 200 buckets would show.
2. Quiet seconds, at least 20: the mean is at most 0.6 of the highest bucket.
3. A call waits longer in full seconds than in quiet ones: a tenth of a request's duration at least, and twice as long.
4. The demand varies while the level does not: from the 10th to the 90th percentile of full seconds, callers' number in
   flight moves by twice as much as the pool's own, and a tenth of the pool's level more.

Worked: 10 in flight in 60 full seconds, and 15 to 40 at the callers, 0.5 s in a request: the deviation is 3.2. It is a
bound. With 10 to 11 at the callers (constant users, a network of 5 %) it is none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.belief.family import Floats

LEAST_S, LEAST_REQUESTS = 20, 20
FULL, QUIET = 0.9, 0.6
WAITS, WAIT_SHARE = 2.0, 0.1
VARIES, VARIES_SHARE = 2.0, 0.1


class CandidateCourse(NamedTuple):
    """A candidate over n seconds.

    level, top  mean and highest bucket of the number in flight of each of k instances, shape (k, n)
    completions  of all instances, shape (n,)
    callers  number in flight at the callers (server), or in the service itself (client), shape (n,)
    bucket_s  length of the buckets
    """

    level: Floats
    top: Floats
    completions: Floats
    callers: Floats
    bucket_s: float


class Bound(NamedTuple):
    """level: highest number in flight of an instance. least, most: number in flight at the callers meanwhile."""

    level: float
    least: float
    most: float

    @property
    def size(self) -> int:
        """The pool's size: a bucket is as high as that where all of it was in use."""
        return max(1, round(self.level))

    def __str__(self) -> str:
        return (
            f"an instance stops at {self.level:.0f} in flight, while its callers have {self.least:.0f} to "
            f"{self.most:.0f} in flight"
        )


def bound_of(course: CandidateCourse) -> Bound | None:
    """The bound of the first instance that shows one."""
    if not course.completions.any():
        return None
    own = course.level.sum(axis=0)
    duration_s = float(own.sum() / course.completions.sum())
    waiting = np.maximum(course.callers - own, 0.0)

    def wait_s(seconds: NDArray[np.bool_]) -> float:
        return float(waiting[seconds].sum() / max(1.0, course.completions[seconds].sum()))

    for level, tops in zip(course.level, course.top, strict=True):
        top = float(tops.max())
        deviation = np.sqrt(level * min(1.0, 2 * duration_s / course.bucket_s))
        full = (level > 0) & (level >= FULL * top) & (top - level <= deviation)
        quiet = (level <= QUIET * top) & (course.completions > 0)
        if full.sum() < max(LEAST_S, LEAST_REQUESTS * duration_s) or quiet.sum() < LEAST_S:
            continue
        waits_s = wait_s(full)
        if waits_s < max(WAITS * wait_s(quiet), WAIT_SHARE * duration_s):
            continue
        (least, most), (own_least, own_most) = _range(course.callers[full]), _range(own[full])
        if most - least >= VARIES * (own_most - own_least) + VARIES_SHARE * float(own[full].mean()):
            return Bound(top, least, most)
    return None


def _range(values: Floats) -> tuple[float, float]:
    least, most = np.quantile(values, [0.1, 0.9])
    return float(least), float(most)
