"""The network as it sizes the pool once a second. `steps.guarded` clamps the size that it names."""

from __future__ import annotations

import numpy as np

from bench.dqn.steps import BOUNDS
from sluice.pools.learn.agent import Agent
from sluice.pools.learn.condition import Condition
from sluice.pools.learn.measure import Windows
from sluice.pools.learn.settings import SETTINGS, Settings
from sluice.pools.learn.sizes import grid
from testbed.fine import PoolWindows
from testbed.single.run import FastRun

SIZES = grid(*BOUNDS)


def windows_of(seen: PoolWindows) -> Windows:
    """Of one pool, on one instance."""
    n, length_s = len(seen.sizes), seen.length_ns / 1e9
    start_ms = (seen.since_ns + np.arange(n) * seen.length_ns) // 1_000_000
    in_flight = seen.own.busy_ns / seen.length_ns
    system = np.maximum(seen.judge.busy_ns / seen.length_ns, in_flight)
    return Windows(start_ms, in_flight, system, seen.own.completions.astype(float), seen.sizes.astype(float), length_s)


class Dqn:
    def __init__(self, run: FastRun, seed: int, settings: Settings = SETTINGS) -> None:
        self._run, self.agent = run, Agent(SIZES, seed, settings)

    def size(self, seen: PoolWindows, now_s: float) -> int:
        """Algorithm 1, lines 7 to 15: the highest Q, with noise at times; a gradient step a transition."""
        self.agent.take(windows_of(seen), seen.threshold_ns / 1e9, Condition(cores=seen.cores))
        self.agent.train()
        opinion = self.agent.opinion()
        at = int(opinion.values.argmax()) + opinion.noise
        return int(SIZES[min(max(at, 0), len(SIZES) - 1)])
