"""Quotas of a carried solution follow those of a new one, within the budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sluice.subsets.connections import Connections, flow
from sluice.subsets.fleet import Ints
from sluice.subsets.microns.reference import Optimum
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.solve import BETTER, NEAR, loop, unlimited
from sluice.subsets.predict import pair_latency
from sluice.subsets.problem import Problem
from sluice.subsets.quotas import bounded
from sluice.subsets.trees import end_to_end_latency


def followed(
    optimum: Optimum, placed: Sequence[Connections], quota: Ints, budget: int, settings: MicronsSettings
) -> Ints:
    """The quotas, (E,), moved towards those of a new solution within `budget` changed connections. They stay where a
    new one would be no better.

    The new solution is made only where no number of connections would do: the loop of Algorithm 1 ends there too.
    """
    latency = _latency(optimum, placed)
    if budget <= 0 or latency <= unlimited(optimum) * NEAR:
        return quota
    anew, _, _ = loop(optimum, settings)
    if _latency(optimum, anew) >= latency * BETTER:
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


def _latency(optimum: Optimum, placed: Sequence[Connections]) -> float:
    problem: Problem = optimum.problem
    work, got = flow(problem, placed)
    return end_to_end_latency(problem.trees, pair_latency(problem, optimum.curves, work, got)[0])
