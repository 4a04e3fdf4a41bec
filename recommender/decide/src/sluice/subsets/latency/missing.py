"""Samples with an unknown utilization of the host. They must not count as samples of an idle host."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sluice.subsets.fleet import Floats
from sluice.subsets.latency.samples import LatencySamples

#: A utilization that more than this part of a service's samples lack is ignored in all of them.
MOST_MISSING = 0.5


def complete(samples: LatencySamples) -> tuple[LatencySamples, np.ndarray]:
    """The samples with all utilizations that most samples have, and which these are, (n,).

    A utilization that most lack becomes 0 in each, so that the model learns nothing from it; `assemble` does the same.
    Worked: of 10 samples 8 have CPU and 2 memory bandwidth: the 8, with a memory bandwidth of 0.
    """
    unknown = np.isnan(samples.contention)
    known = unknown.mean(axis=0) <= MOST_MISSING if len(samples) else np.ones(3, dtype=bool)
    chosen = np.asarray(~unknown[:, known].any(axis=1))
    contention = np.where(known, samples.contention, 0.0)
    return replace(samples, contention=contention).where(chosen), chosen


def busiest(contention: Floats) -> Floats:
    """(n,) the highest known utilization of each host; NaN where none is known."""
    highest = np.where(np.isnan(contention), -1.0, contention).max(axis=1)
    return np.where(highest < 0, np.nan, highest)
