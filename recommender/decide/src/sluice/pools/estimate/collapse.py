"""Does a pool that is full complete less than it did with fewer in flight? Then it is too large. Pure.

Buckets in which the pool was full are censored for a curve of goodput, as response times describe the queue then. Not
so their throughput: it is what the service does with that many inside, and no queue before it changes that. Goodput is
never more than throughput, so a throughput that collapses is a goodput that does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sluice.pools.estimate.curve import merge_thin, per_level
from sluice.pools.estimate.evidence import falls
from sluice.pools.estimate.full_pool import MIN_FULL, is_limited, serves
from sluice.pools.estimate.in_time import in_turns
from sluice.pools.estimate.samples import Samples


@dataclass(frozen=True)
class Collapse:
    """size: in flight where most completed, rounded up. repeated: the two were seen in turns (`in_time.in_turns`).

    Not repeated, it can as well be another kind of requests that came at some time.
    """

    size: int
    repeated: bool


def find_collapse(samples: Samples) -> Collapse | None:
    """The full pool against the best level below it; None without a fall of 10 % and three standard errors.

    Worked: 1,577/s at 7 in flight and 912/s at 60, the size: a collapse, of size 7. None where the pool was full in
    less than a tenth of the buckets, or callers were served in time all the same.
    """
    if not is_limited(samples) or serves(samples):
        return None
    full = samples.full()
    below = samples.take(~full)
    if min(int(full.sum()), len(below)) < MIN_FULL:
        return None
    level = np.floor(samples.concurrency + 0.5)
    points = merge_thin(per_level(replace(below, goodput_per_s=below.throughput_per_s)), MIN_FULL)
    best = int(np.argmax(points.goodput_per_s))
    edges = np.concatenate(([-np.inf], (points.concurrency[1:] + points.concurrency[:-1]) / 2, [np.inf]))
    is_best = ~full & (level >= edges[best]) & (level <= edges[best + 1])
    rates, times = samples.throughput_per_s, samples.start_ms
    if not falls(rates[is_best], rates[full]):
        return None
    turns = times is not None and in_turns(times, is_best, full, lambda one, other: falls(rates[one], rates[other]))
    return Collapse(max(1, math.ceil(points.concurrency[best])), repeated=turns)
