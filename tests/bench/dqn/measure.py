"""State and reward of each window (uConAdapter 3.2): TPR, LR, RU, and r = alpha LR + beta TPR RU.

    TPR  throughput / request rate; the request rate is completions plus the growth of the number in flight
    LR   SLO / response time, 1 at most, and 1 where nothing arrives. Mean, by Little's law: in the system / throughput
    RU   throughput / the highest under this condition: the Utilization Law, U = X D, with D = 1 / X_max. The windows of
         100 ms have no CPU gauge

`min LR` in the paper's text and theta without a hat in line 13 of its Algorithm 1 are misprints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.dqn.settings import LearnerSettings
from bench.dqn.sizes import Ints
from sluice.pools.estimate.samples import Floats

STATES = 3
# A second with fewer completions says nothing of the work of a request.
LEAST_COMPLETIONS = 5.0
# Part of the highest rate that is forgotten per second: half in 21 minutes.
FORGOTTEN = 1 / 1_800


@dataclass(frozen=True)
class ServiceWindows:
    """n windows of one pool, per instance of its service, ascending in time; each array of shape (n,).

    in_flight: in the pool, mean. in_system: with those that wait for it, where callers' spans show them. completions:
    in the window. size: in force, NaN where unreported. length_s: of each.
    """

    start_ms: Ints
    in_flight: Floats
    in_system: Floats
    completions: Floats
    size: Floats
    length_s: float

    def __len__(self) -> int:
        return len(self.start_ms)

    def take(self, keep: NDArray[np.bool_]) -> ServiceWindows:
        return ServiceWindows(
            self.start_ms[keep],
            self.in_flight[keep],
            self.in_system[keep],
            self.completions[keep],
            self.size[keep],
            self.length_s,
        )

    def follows(self) -> NDArray[np.bool_]:
        """Whether the window before each is the one just before it in time, shape (n,); False for the first."""
        length_ms = round(self.length_s * 1e3)
        return np.concatenate([[False], np.diff(self.start_ms) == length_ms])[: len(self)]


def seconds(of: ServiceWindows) -> ServiceWindows:
    """Sums windows to whole seconds under one size. A part of a second, or one in which the size
    changed, is left out."""
    per_second = round(1 / of.length_s)
    if len(of) == 0 or per_second <= 1:
        return of
    starts, first, count = np.unique(of.start_ms // 1000, return_index=True, return_counts=True)
    last = first + count - 1
    one_size = (of.size[first] == of.size[last]) | (np.isnan(of.size[first]) & np.isnan(of.size[last]))
    keep = (count == per_second) & one_size
    sums = [np.add.reduceat(column, first)[keep] for column in (of.in_flight, of.in_system, of.completions)]
    return ServiceWindows(
        starts[keep] * 1000, sums[0] / per_second, sums[1] / per_second, sums[2], of.size[first][keep], length_s=1.0
    )


@dataclass(frozen=True)
class LearnerInput:
    """n windows: state of shape (n, 3), with the condition (n, 3 + C); reward of shape (n,)."""

    state: Floats
    reward: Floats

    def under(self, condition: Floats) -> LearnerInput:
        """With the encoded condition, of shape (C,), in each window's state."""
        conditions = np.broadcast_to(condition, (len(self.state), len(condition)))
        return LearnerInput(np.concatenate([self.state, conditions], axis=1), self.reward)


def measured(of: ServiceWindows, slo_s: float, most_per_s: float, settings: LearnerSettings) -> LearnerInput:
    """most_per_s: the most completions per second under this condition, > 0.

    Worked, SLO 0.2 s, at most 100 a second: 80 a second with 20 in the system, as before: TPR 1, RU 0.8, response time
    0.25 s, LR 0.8: r = 0.5 x 0.8 + 0.5 x 1 x 0.8 = 0.8.
    """
    rate = of.completions / of.length_s
    grown = np.where(of.follows(), np.diff(of.in_system, prepend=0.0), 0.0) / of.length_s
    arrivals = np.maximum(rate + grown, 0.0)
    tpr = np.where(arrivals > 0, np.minimum(rate / np.maximum(arrivals, 1e-9), 1.0), 1.0)
    lr = np.where(of.in_system > 0, np.minimum(slo_s * rate / np.maximum(of.in_system, 1e-9), 1.0), 1.0)
    ru = np.minimum(rate / most_per_s, 1.0)
    reward = settings.alpha * lr + settings.beta * tpr * ru
    return LearnerInput(np.stack([tpr, lr, ru], axis=1), reward)


def highest_per_s(before: float, per_s: Floats) -> float:
    """The most completions per second after these whole seconds, shape (n,). before: 0 before any."""
    for rate in per_s:
        before = max(before * (1 - FORGOTTEN), float(rate))
    return before


def work_s(of: ServiceWindows) -> float:
    """Time in service for one request, by Little's law, where least was in flight for it: the first decile of the
    seconds; 0 where none completed enough."""
    enough = of.completions >= LEAST_COMPLETIONS
    if not enough.any():
        return 0.0
    return float(np.quantile(of.in_flight[enough] * of.length_s / of.completions[enough], 0.1))
