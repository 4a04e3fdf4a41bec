"""Quotas of a carried solution follow those of a new one, within the budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sluice.subsets.connections import Connections
from sluice.subsets.fleet import Ints
from sluice.subsets.microns.loop import BETTER, NEAR, latency_of, loop, unlimited
from sluice.subsets.microns.reference import Optimum
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.quotas import bounded


def followed(
    optimum: Optimum, placed: Sequence[Connections], quota: Ints, budget: int, settings: MicronsSettings
) -> Ints:
    """The quotas, (E,), moved towards those of a new solution within `budget` changed connections. They stay where a
    new one would be no better.

    The new solution is made only where no number of connections would do: the loop of Algorithm 1 ends there too.
    """
    latency = latency_of(optimum, placed)
    if budget <= 0 or latency <= unlimited(optimum) * NEAR:
        return quota
    anew, _, _ = loop(optimum, settings)
    if latency_of(optimum, anew) >= latency * BETTER:
        return quota
    return stepped(quota, np.array([len(one) for one in anew]), budget)


def stepped(quota: Ints, wanted: Ints, budget: int) -> Ints:
    """Moves quota from pairs that have more than `wanted` to pairs that have fewer. A connection that one pair loses
    and another gains counts twice, as in `churn`. Worked: (30, 30) to (50, 10) within 12: (36, 24)."""
    more, less = np.maximum(wanted - quota, 0), np.maximum(quota - wanted, 0)
    count = min(budget // 2, int(more.sum()), int(less.sum()))
    none = np.zeros_like(quota)
    given, taken = (bounded(side.astype(np.float64), none, side, count) for side in (more, less))
    return np.asarray(quota + given - taken)
