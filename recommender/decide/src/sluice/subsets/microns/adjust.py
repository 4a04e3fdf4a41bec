"""Quota adjustment (Microns, Algorithm 3): connections go to the pairs whose latency falls most with them."""

from __future__ import annotations

import numpy as np

from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.quotas import bounded

# One iteration at most doubles a quota. Otherwise a gradient far steeper than all others would take everything at once.
MOST = 2.0


def gradients(latency: Floats, latency_before: Floats, quota: Ints, quota_before: Ints, previous: Floats) -> Floats:
    """Equation 6, (E,), in ms per connection: the change of latency by the last change of the quota. A pair with the
    same quota shows nothing and keeps its gradient from `previous`."""
    moved = (quota - quota_before).astype(np.float64)
    return np.where(moved != 0, (latency - latency_before) / np.where(moved != 0, moved, 1.0), previous)


def adjusted(gradient: Floats, quota: Ints, least: Ints, most: Ints, total: int, learning_rate: float) -> Ints:
    """Quotas of the next iteration, (E,), that add up to `total`, each within its bounds.

    Line 7 as printed takes quota away from the steepest descent. This follows the paper's text instead: G is aligned to
    be 0 at most, and factors are 1 + eta (G - mean) / mean. Worked: (-10, -1) at eta 0.5: aligned (-9, 0), mean -4.5,
    factors 1.5 and 0.5. Where all gradients are equal, the mean is 0 and nothing changes.
    """
    aligned = gradient - gradient.max()
    mean = float(aligned.mean())
    if mean > -1e-12:
        return quota
    factor = 1 + learning_rate * (aligned - mean) / mean
    return bounded(quota * np.clip(factor, 1 - learning_rate, MOST), least, most, total)
