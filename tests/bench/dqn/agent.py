"""The network as it sizes the pool once a second. `steps.guarded` clamps the size that it names."""

from __future__ import annotations

import numpy as np

from bench.dqn.steps import BOUNDS
from sluice.pools.learned.agent import Agent
from sluice.pools.learned.condition import Condition
from sluice.pools.learned.measure import ServiceWindows
from sluice.pools.learned.settings import SETTINGS, LearnerSettings
from sluice.pools.learned.sizes import grid
from testbed.fine import PoolWindows
from testbed.single.run import FastRun

SIZES = grid(*BOUNDS)


def windows_of(windows: PoolWindows) -> ServiceWindows:
    """Of one pool, on one instance."""
    n, length_s = len(windows.sizes), windows.length_ns / 1e9
    start_ms = (windows.since_ns + np.arange(n) * windows.length_ns) // 1_000_000
    in_flight = windows.own.busy_ns / windows.length_ns
    system = np.maximum(windows.judge.busy_ns / windows.length_ns, in_flight)
    return ServiceWindows(
        start_ms, in_flight, system, windows.own.completions.astype(float), windows.sizes.astype(float), length_s
    )


class Dqn:
    def __init__(self, run: FastRun, seed: int, settings: LearnerSettings = SETTINGS) -> None:
        self._run, self.agent = run, Agent(SIZES, seed, settings)

    def size(self, windows: PoolWindows, now_s: float) -> int:
        """Algorithm 1, lines 7 to 15: the highest Q, with noise at times; a gradient step a transition."""
        self.agent.take(windows_of(windows), windows.threshold_ns / 1e9, Condition(cores=windows.cores))
        self.agent.train()
        opinion = self.agent.opinion()
        at = int(opinion.values.argmax()) + opinion.noise
        return int(SIZES[min(max(at, 0), len(SIZES) - 1)])
