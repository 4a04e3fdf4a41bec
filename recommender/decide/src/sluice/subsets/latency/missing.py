"""Samples of whose host something is not known: they are not taken for those of an idle host."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sluice.subsets.fleet import Floats
from sluice.subsets.latency.samples import Samples

#: A utilization that more of a service's samples lack does not count for any of them: most hosts do not tell it.
MOST_MISSING = 0.5


def complete(samples: Samples) -> tuple[Samples, np.ndarray]:
    """Those of whose host all is known that most hosts tell, and which these are, (n,). What most do not tell is 0 for
    each, so that nothing is learnt of it: `assemble` has it so too.

    Of 10 samples with CPU known of 8 and memory bandwidth of 2: the 8, with a memory bandwidth of 0.
    """
    unknown = np.isnan(samples.contention)
    told = unknown.mean(axis=0) <= MOST_MISSING if len(samples) else np.ones(3, dtype=bool)
    chosen = np.asarray(~unknown[:, told].any(axis=1))
    contention = np.where(told, samples.contention, 0.0)
    return replace(samples, contention=contention).where(chosen), chosen


def busiest(contention: Floats) -> Floats:
    """(n,) the highest of what is known of each host; NaN of one of which nothing is."""
    found = np.where(np.isnan(contention), -1.0, contention).max(axis=1)
    return np.where(found < 0, np.nan, found)
