"""Finds where 95 % of the best goodput is first reached, again for resampled data: an interval without a formula."""

from __future__ import annotations

import numpy as np

from sluice.pools.estimate.samples import Floats

RESAMPLES = 100
# Fixed: the same samples give the same interval.
SEED = 20260512


def first_reaching(x: Floats, mean: Floats, error: Floats, share: float, resamples: int = RESAMPLES) -> Floats:
    """Smallest x at which each resampled curve reaches `share` of its best: shape (resamples,).

    x, mean, error: the points of a curve up to and with its top, and the standard errors of their means, shape (m,).
    A resample moves each mean by a normal deviate of its error (the parametric bootstrap: a mean of ten buckets and
    more is nearly normal). Isotonic regression in its min-max form, g_k = max over i <= k of min over j >= k of
    mean(i..j), then makes it rise, for all resamples at once: O(resamples m^2).
    """
    m = len(x)
    drawn = mean + error * np.random.default_rng(SEED).standard_normal((resamples, m))
    sums = np.concatenate((np.zeros((resamples, 1)), np.cumsum(drawn, axis=1)), axis=1)
    rising = np.full((resamples, m), -np.inf)
    for i in range(m):
        means = (sums[:, i + 1 :] - sums[:, i : i + 1]) / np.arange(1, m - i + 1)
        least = np.minimum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
        rising[:, i:] = np.maximum(rising[:, i:], least)
    reached = rising >= share * rising[:, -1:]
    return np.asarray(x[np.argmax(reached, axis=1)], dtype=np.float64)
