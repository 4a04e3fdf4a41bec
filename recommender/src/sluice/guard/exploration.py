"""Did a larger pool gain anything? Compares goodput under the same demand before and after a step of exploration."""

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
    """Goodput per second and instance while a pool of some size had all it could take, and its standard error."""

    goodput_per_s: float
    standard_error: float


@dataclass(frozen=True)
class Step:
    """An exploration under way, with what was seen where it began; failed: the larger size gained nothing."""

    from_size: int
    to_size: int
    before: Sight
    failed: bool = False


def under_demand(samples: Samples | None, size: int) -> Sight | None:
    """Goodput in the buckets in which a pool of `size` would have been full; None when there are too few.

    Buckets of 90 % of the size count, as in `Samples.full`: the same demand before and after, whatever the load did.
    """
    if samples is None:
        return None
    goodput = samples.goodput_per_s[samples.concurrency >= min(size - 0.5, 0.9 * size)]
    if len(goodput) < MIN_BUCKETS:
        return None
    return Sight(float(goodput.mean()), float(goodput.std(ddof=1) / np.sqrt(len(goodput))))


def gained(before: Sight, after: Sight) -> bool:
    """Worked: 100 +- 3 and 120 +- 4 per second differ by 20, noise explains 2 x 5 = 10: gained. 108 is none."""
    noise = STANDARD_ERRORS * float(np.hypot(before.standard_error, after.standard_error))
    return after.goodput_per_s - before.goodput_per_s > noise
