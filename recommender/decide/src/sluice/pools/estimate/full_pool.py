"""Decides from the buckets in which the pool was full whether the pool hides the rest of the curve.

Each rule on samples is a constant and a test. Goodput is censored in such buckets (`Samples.full`), throughput is not.
"""

from __future__ import annotations

import numpy as np

from sluice.pools.estimate.samples import Samples

# Buckets on either side of a comparison.
MIN_FULL = 10
# The pool hides the curve beyond its size when it was full in a tenth of the buckets.
LIMITED_SHARE = 0.10


def is_limited(samples: Samples) -> bool:
    """Whether the pool was full so often that the data do not show the curve beyond its size."""
    return len(samples) > 0 and float(np.mean(samples.full())) >= LIMITED_SHARE


def works_hardest_when_full(samples: Samples) -> bool:
    """Whether more completions per second come while the pool is full than while it is at least half full.

    This separates a pool that is too small, which hides the curve, from one that thrashes when full. A full pool alone
    never is a reason for a larger size, or a steady overload would raise it without end.
    """
    return more_when_full(samples) is True


def more_when_full(samples: Samples) -> bool | None:
    """As `works_hardest_when_full`; None without enough buckets of both."""
    full = samples.full()
    half = ~full & (samples.concurrency >= samples.limit / 2)
    if min(full.sum(), half.sum()) < MIN_FULL:
        return None
    return bool(samples.completions[full].mean() > samples.completions[half].mean())
