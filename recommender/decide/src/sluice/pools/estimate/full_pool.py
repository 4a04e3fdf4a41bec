"""What the buckets say in which the pool was full: does it hide more?

Rules on samples, each a constant and a test. Goodput is censored in such buckets (`Samples.full`), throughput is not.
"""

from __future__ import annotations

import numpy as np

from sluice.pools.estimate.samples import Samples

# Buckets on either side of a comparison.
MIN_FULL = 10
# The pool hides what lies beyond it when it was full in a tenth of the buckets.
LIMITED_SHARE = 0.10


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
    if min(full.sum(), half.sum()) < MIN_FULL:
        return False
    return bool(samples.completions[full].mean() > samples.completions[half].mean())
