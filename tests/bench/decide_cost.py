"""What a decision costs: `step` with 1 s of new windows, of pools that are known for a minute, in a process per core.

Each process has pools of its own, over services that differ in speed, contention, crosstalk and load, and steps them in
turn, as many times as 10,000 pools in one period are. CPU of the processes; NumPy's own threads are off.
"""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from sluice.fast.garbage import search_rarely
from sluice.pools.policy.decision import Action
from sluice.pools.policy.observation import Buckets, Observation
from sluice.pools.policy.prepare import prepare
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step

BAR_US = 500.0
STEPS, WARM_UP_S, SECONDS = 10_000, 60, 20


def run(quick: bool = False) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    # Read by the linear algebra's library when a process loads it.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    processes = os.cpu_count() or 1
    pools = (STEPS // 10 if quick else STEPS) // SECONDS // processes
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as workers:
        result = list(workers.map(_worker, range(processes), [pools] * processes))
    steps = sum(sums[0] for sums in result)
    step_us = sum(sums[1] for sums in result) / steps * 1e6
    return [
        (f"a step (bar {BAR_US:.0f} µs)", f"{step_us:.0f} µs of a core a pool"),
        ("steps", f"{steps:,} in {processes} processes"),
        ("of them, that named another size", f"{sum(sums[2] for sums in result) / steps:.1%}"),
    ]


class Made:
    """A pool under a load that comes and goes, counts by Poisson; it takes the size that is decided."""

    def __init__(self, chance: np.random.Generator) -> None:
        self.chance = chance
        self.size = int(np.exp(chance.uniform(np.log(4), np.log(128))))
        self.speed, self.contention = chance.uniform(20, 200), chance.uniform(0, 0.05)
        self.crosstalk = np.exp(chance.uniform(np.log(1e-5), np.log(4e-3)))
        self.busy, self.phase = chance.uniform(0.3, 1.5), chance.uniform(0, 6.0)
        self.state, self.at_s = PoolState(), 0

    def second(self) -> Observation:
        wanted = self.size * self.busy * (1 + 0.5 * np.sin(self.phase + self.at_s / 20))
        in_flight = np.clip(self.chance.normal(wanted, wanted**0.5, 10), 0.2, self.size)
        hindered = 1 + self.contention * (in_flight - 1) + self.crosstalk * in_flight * (in_flight - 1)
        done = self.chance.poisson(0.1 * self.speed * in_flight / np.maximum(hindered, 0.5)).astype(float)
        start_ms = 1_000 * self.at_s + 100 * np.arange(10)
        size, cores = np.full(10, float(self.size)), np.full(10, 4.0)
        return Observation({"a": self.size}, Buckets(start_ms, in_flight, done, 0.1, size, cores), 4.0, 0.5)

    def decide(self) -> tuple[float, bool]:
        """CPU s of the step, and whether it named another size."""
        windows = self.second()
        self.at_s += 1
        begun = time.process_time()
        self.state, decision = step(self.state, windows, 1_000 * self.at_s)
        spent_s = time.process_time() - begun
        moved = decision.action is Action.APPLY and decision.target not in (None, self.size)
        if moved and decision.target is not None:
            self.size = decision.target
        return spent_s, moved


def _worker(seed: int, pools: int) -> tuple[int, float, int]:
    """Steps, CPU s of them, and changes of size."""
    prepare()
    search_rarely()
    made = [Made(np.random.default_rng([seed, at])) for at in range(pools)]
    for pool in made * WARM_UP_S:
        pool.decide()
    results = [pool.decide() for pool in made * SECONDS]
    return len(results), sum(spent_s for spent_s, _ in results), sum(moved for _, moved in results)
