"""One run as people look at it: response times and goodput of the users, pool size and hardware, over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.controllers.in_loop import DELAY_S, PERIOD_S, Course, InLoop, Sized, window_s
from testbed.controller import ControlAgent
from testbed.fine import FineWindows
from testbed.simulation import Scenario, Simulation

STEP_S = 5.0

Steps = list[tuple[float, float]]
"""(second, value from then on)."""
Scale = Callable[[Simulation], object]
"""Puts hardware autoscalers into a run."""


@dataclass(frozen=True)
class Timeline:
    """Response times in seconds by the second at which the response came, both of shape (n,), with `good` beside."""

    seconds: float
    at_s: np.ndarray
    latency_s: np.ndarray
    good: np.ndarray
    size: Steps
    cores: Steps
    replicas: Steps
    course: Sequence[Course]

    def p99_s(self, since_s: float, until_s: float) -> float:
        inside = self._inside(since_s, until_s)
        return float(np.quantile(self.latency_s[inside], 0.99)) if inside.any() else float("nan")

    def goodput_per_s(self, since_s: float, until_s: float) -> float:
        return float(self.good[self._inside(since_s, until_s)].sum() / (until_s - since_s))

    def rate_per_s(self, since_s: float, until_s: float) -> float:
        return float(self._inside(since_s, until_s).sum() / (until_s - since_s))

    def _inside(self, since_s: float, until_s: float) -> np.ndarray:
        return (self.at_s >= since_s) & (self.at_s < until_s)


def drive(
    scenario: Scenario,
    pool: str,
    threshold_ms: float,
    user_ms: float,
    seconds: float,
    scale: Scale,
    tuned: bool,
    seed: int = 1,
) -> Timeline:
    """One run; `tuned`: Sluice sizes the pool, else it keeps its first size."""
    fine = FineWindows()
    responses: list[tuple[float, float, bool]] = []

    def outcome(at_s: float, latency_s: float, failed: bool) -> None:
        responses.append((at_s, latency_s, not failed and latency_s * 1e3 <= user_ms))

    simulation = Simulation(scenario, seed, fine.add, outcome)
    target = simulation.pools[pool]
    fine.watch([target])
    scale(simulation)
    course: Sequence[Course] = ()
    if tuned:
        controller = InLoop([Sized.of(target, threshold_ms)])
        thresholds = {pool: threshold_ms}
        ControlAgent(simulation, fine, controller, lambda _: thresholds, PERIOD_S, window_s(), settle_s=DELAY_S)
        course = controller.course(pool)
    cores, replicas = [], []
    for second in np.arange(0.0, seconds, 1.0):
        simulation.run_until(second)
        cores.append((float(second), target.bounded.cores))
        replicas.append((float(second), float(len(target.bounded.instances))))
    simulation.run_until(seconds)
    at_s, latency_s, good = (np.array(column) for column in zip(*responses, strict=True))
    sizes = [(at, float(size)) for at, size in target.history]
    return Timeline(seconds, at_s, latency_s, good, sizes, changes(cores), changes(replicas), course)


def changes(series: Steps) -> Steps:
    """Only where the value differs from the one before."""
    return [each for i, each in enumerate(series) if i == 0 or each[1] != series[i - 1][1]]
