"""Has the service become another one since a curve was seen? A two-sample test on batch means. Pure.

Compared is throughput at a given concurrency: by Little's law it is the inverse of the time that a request spends
inside (X = N / R), so a release or a data set that changes the service time moves it at once. Unlike goodput it asks
for no threshold, and does not move when callers queue for a pool that was just made smaller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.curve import Curve, merge_thin
from sluice.pools.estimate.memory import Rates
from sluice.pools.estimate.samples import Floats, Samples

# The newest stretch that is compared, in blocks: neighbouring buckets share requests and a burst, their sums over a
# second nearly do not (batch means; Law, Simulation Modeling and Analysis, 9.5).
NEWEST_MS, BLOCK_MS = 20_000, 1_000
MIN_BLOCKS = 12
# A change of at least 15 % that is at least 5 standard errors: with 12 to 20 blocks chance alone exceeds that in under
# 0.04 % of comparisons (t of 11 degrees of freedom; 0.008 % of 19).
CHANGE = 0.15
STANDARD_ERRORS = 5.0
# Buckets behind each point of the curve that is compared with.
BUCKETS_PER_POINT = 10


@dataclass(frozen=True)
class Shift:
    """change: share by which throughput at the same concurrency differs, -0.33 when requests take 1.5 times as long.

    since_ms: Unix time of the first block that belongs to what is now.
    """

    change: float
    standard_errors: float
    since_ms: int


def find_shift(samples: Samples, bucket_start_ms: NDArray[np.int64], then: Rates) -> Shift | None:
    """Whether the newest `NEWEST_MS` of the samples contradict the curve `then`; None when they do not, or are too few.

    Only buckets within the concurrency that `then` has seen count: nothing is known beyond it.
    """
    points = merge_thin(Curve(then.concurrency, then.throughput_per_s, then.count), BUCKETS_PER_POINT)
    x = samples.concurrency
    inside = (x >= points.concurrency[0]) & (x <= points.concurrency[-1])
    if not inside.any():
        return None
    expected = np.interp(x[inside], points.concurrency, points.goodput_per_s)
    block = bucket_start_ms[inside] // BLOCK_MS
    names, index = np.unique(block, return_inverse=True)
    expected_sum = np.bincount(index, weights=expected)
    residual = np.bincount(index, weights=samples.throughput_per_s[inside] - expected).astype(np.float64)
    newest = names > int(bucket_start_ms.max()) // BLOCK_MS - NEWEST_MS // BLOCK_MS
    blocks = int(newest.sum())
    if blocks < MIN_BLOCKS or expected_sum[newest].sum() <= 0:
        return None
    change = float(residual[newest].sum() / expected_sum[newest].sum())
    # The curve has noise of its own: as much as a stretch of as many buckets as it was averaged from.
    buckets_now = int(np.isin(index, np.flatnonzero(newest)).sum())
    # Ratio estimator (Cochran, Sampling Techniques, 6.4): blocks vary by what is left after the common change.
    left = (residual - change * expected_sum)[newest]
    spread = float(left.std(ddof=1)) * float(np.sqrt(1 + buckets_now / then.count.sum()))
    error = spread * np.sqrt(blocks) / float(expected_sum[newest].sum())
    if abs(change) < CHANGE or abs(change) < STANDARD_ERRORS * error:
        return None
    return Shift(change, abs(change) / max(error, 1e-12), int(names[_begins(residual)]) * BLOCK_MS)


def _begins(residual: Floats) -> int:
    """The block at which the mean of the residuals changed: where their cumulative sum turns (Page 1954; CUSUM).

    All of them belong to what is now when they are alike from the first on.
    """
    before = np.concatenate(([0.0], np.cumsum(residual)))
    k = np.arange(len(before))
    bend = np.abs(before - before[-1] * k / k[-1])
    # Without a change inside, the sum runs straight, but for noise: a bend of less than 2 standard deviations of a
    # Brownian bridge at its middle (sd * sqrt(n) / 2) is none.
    if bend.max() < residual.std() * np.sqrt(len(residual)):
        return 0
    return int(np.argmax(bend))
