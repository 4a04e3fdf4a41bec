"""Did a larger pool gain anything? Compares what completes while the one and the other is full.

Throughput, not goodput: with the larger pool less of the wait lies before it, so buckets of the same concurrency look
better even where nothing is gained (27 and 36 good a second on a simulated service whose database took 4 at a time,
at 6 and 8 threads). If no more completes while the larger one is full, the wait was only moved into the pool; and where
more completes, fewer are late. A goodput that falls at the larger size is a fall of the curve, and gives a size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.estimate.samples import Samples

# Buckets under demand that either side must have: 2 s of them.
MIN_BUCKETS = 20
# A gain counts when it is more than noise: two standard errors of the difference.
STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Sight:
    """Throughput per second and instance while a pool of some size had all it could take, and its standard error."""

    throughput_per_s: float
    standard_error: float


@dataclass(frozen=True)
class Step:
    """An exploration under way, with what was seen where it began; failed: the larger size gained nothing."""

    from_size: int
    to_size: int
    before: Sight
    failed: bool = False


def under_demand(samples: Samples | None, size: int) -> Sight | None:
    """Throughput in the buckets in which a pool of `size` would have been full; None when there are too few.

    Buckets of 90 % of the size count, as in `Samples.full`: demand was at least the size then. The larger pool is
    judged by its own size: with the smaller one's, buckets would count in which nobody waited, and only a few slow
    requests were in flight together; they complete less, and a step that was right was taken back.
    """
    if samples is None:
        return None
    rates = samples.throughput_per_s[samples.concurrency >= min(size - 0.5, 0.9 * size)]
    if len(rates) < MIN_BUCKETS:
        return None
    return Sight(float(rates.mean()), float(rates.std(ddof=1) / np.sqrt(len(rates))))


def gained(before: Sight, after: Sight) -> bool:
    """Worked: 100 +- 3 and 120 +- 4 per second differ by 20, noise explains 2 x 5 = 10: gained. 108 is none."""
    noise = STANDARD_ERRORS * float(np.hypot(before.standard_error, after.standard_error))
    return after.throughput_per_s - before.throughput_per_s > noise
