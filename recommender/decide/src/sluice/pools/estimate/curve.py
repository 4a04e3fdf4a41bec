"""The goodput curve: samples averaged per level of concurrency (Sora 3.2, "Metrics Collection Phase")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.pools.estimate.samples import Floats, Samples


@dataclass(frozen=True)
class Curve:
    """Averaged points, ascending by concurrency; every array has shape (m,).

    concurrency     mean concurrency of the point's buckets
    goodput_per_s   mean goodput of the point's buckets
    count           buckets in the point, > 0
    """

    concurrency: Floats
    goodput_per_s: Floats
    count: Floats

    def __len__(self) -> int:
        return len(self.concurrency)


def per_level(samples: Samples) -> Curve:
    """One point per whole number in flight: a bucket counts for the level that its concurrency rounds to.

    (2.4, 100/s), (2.6, 120/s), (3.2, 140/s) -> levels 2 and 3: (2.4, 100/s, 1), (2.9, 130/s, 2).
    """
    level = np.floor(samples.concurrency + 0.5).astype(np.int64)
    # Sums run over sorted samples, so that the same samples in another order give the same curve to the last bit.
    order = np.lexsort((samples.goodput_per_s, samples.concurrency))
    level, concurrency, goodput = level[order], samples.concurrency[order], samples.goodput_per_s[order]
    _, index, count = np.unique(level, return_inverse=True, return_counts=True)
    return Curve(
        np.bincount(index, weights=concurrency) / count,
        np.bincount(index, weights=goodput) / count,
        count.astype(np.float64),
    )


def merge_thin(curve: Curve, at_least: float) -> Curve:
    """Merges neighbouring points, from the left, until each has `at_least` buckets.

    Otherwise a single lucky bucket at its level would be the "maximum". Buckets left over at the right end join the
    last point.
    """
    index = np.zeros(len(curve), dtype=np.int64)
    group, buckets = 0, 0.0
    left = float(curve.count.sum())
    for i, count in enumerate(curve.count.tolist()):
        if buckets >= at_least and left >= at_least:
            group, buckets = group + 1, 0.0
        index[i] = group
        buckets += count
        left -= count
    count = np.bincount(index, weights=curve.count).astype(np.float64)
    return Curve(
        np.bincount(index, weights=curve.count * curve.concurrency) / count,
        np.bincount(index, weights=curve.count * curve.goodput_per_s) / count,
        count,
    )
