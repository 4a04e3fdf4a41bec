"""What the buckets say in which the pool was full: does it hide more, are its callers served, would a larger one help?

Rules on samples, each a constant and a test. Goodput is censored in such buckets (`Samples.full`), throughput is not.
"""

from __future__ import annotations

import numpy as np

from sluice.pools.estimate.samples import Samples

# Buckets on either side of a comparison.
MIN_FULL = 10
# The pool hides what lies beyond it when it was full in a tenth of the buckets.
LIMITED_SHARE = 0.10
# Callers are served when in the buckets in which the pool was full less than a fiftieth came too late.
SERVED_SHARE = 0.98
# It starves its callers when it was full in nine of ten buckets, and half of what completed in them came too late.
STARVING_SHARE, LATE_SHARE = 0.9, 0.5


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


def starves(samples: Samples) -> bool:
    """Whether the pool is full nearly all the time while most callers wait too long, or it thrashes.

    Which of the two cannot be seen, as there are no buckets to compare with: it is worth a step that is taken back
    unless it gains (`sluice.pools.guard.exploration`), no more. Without callers' spans the wait is not seen at all.
    """
    full = samples.full()
    if not samples.caller_judged or len(samples) == 0 or full.mean() < STARVING_SHARE:
        return False
    bucket_rate, good = samples.throughput_per_s[full].sum(), samples.goodput_per_s[full].sum()
    return bool(bucket_rate > 0 and good < (1 - LATE_SHARE) * bucket_rate)


def serves(samples: Samples) -> bool:
    """Whether the callers get their responses in time even while the pool is full: a larger one has nothing to gain.

    False without callers' spans, which alone contain the wait, and where the pool was never full.
    """
    full = samples.full()
    rate, good = samples.throughput_per_s[full].sum(), samples.goodput_per_s[full].sum()
    return bool(samples.caller_judged and rate > 0 and good >= SERVED_SHARE * rate)


def late_inside(samples: Samples, threshold_s: float) -> bool:
    """Whether requests take longer than the threshold from when the full pool has taken them: its size cannot help.

    The mean time inside by Little's law, concurrency / throughput. Worked: 10 in flight and 10 a second are 1 s, late
    for a threshold of 250 ms (a dependency that times out); 10 and 700 a second are 14 ms: if callers are late, they
    waited before. False where the pool was never full.
    """
    full = samples.full()
    inside, rate = samples.concurrency[full].sum(), samples.throughput_per_s[full].sum()
    return bool(inside > threshold_s * rate)
