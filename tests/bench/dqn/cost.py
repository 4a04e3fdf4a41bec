"""1,000 pools with an agent each: CPU time of their lessons, memory, and what it costs the process that decides."""

from __future__ import annotations

import os
import pickle
import resource
import time
from tempfile import TemporaryDirectory

import numpy as np

from sluice.model.keys import PoolKey
from sluice.pools.learned.agents import LEARNING, Agents
from sluice.pools.learned.condition import Condition
from sluice.pools.learned.lesson import Learned, Lesson, agent_estimate
from sluice.pools.learned.measure import ServiceWindows
from sluice.pools.policy.state import Facts

EACH_S = 5


def windows(start_s: int, seconds: int, size: int, random: np.random.Generator) -> ServiceWindows:
    n = 10 * seconds
    start_ms = (start_s * 1000 + 100 * np.arange(n)).astype(np.int64)
    in_flight = random.uniform(1, size, n)
    completions = random.poisson(20, n).astype(float)
    return ServiceWindows(start_ms, in_flight, in_flight + 2, completions, np.full(n, float(size)), 0.1)


class Pools:
    """Of one process that trains."""

    def __init__(self, count: int, directory: str) -> None:
        self.count, self.agents, self._directory = count, Agents(), directory
        self._random, self._at_s = np.random.default_rng(1), 100
        self.learned: Learned | None = None

    def lessons(self) -> list[Lesson]:
        """The next 5 s of each, with the 10 s before them."""
        start_s = self._at_s - 10
        self._at_s += EACH_S
        return [
            Lesson(
                PoolKey(f"service-{i}", "server", ""),
                windows(start_s, 10 + EACH_S, 5 + i % 40, self._random),
                0.25,
                Condition(cores=2.0),
                (1, 200),
                None,
                self._directory,
                1_000 * self._at_s,
            )
            for i in range(self.count)
        ]

    def spent_s(self, rounds: int) -> float:
        """CPU time of a second of a pool."""
        spent = 0.0
        for _ in range(rounds):
            lessons, begun = self.lessons(), time.process_time()
            found = self.agents.learn(lessons)
            spent += time.process_time() - begun
            self.learned = next(each for each in found if isinstance(each, Learned))
        return spent / (EACH_S * rounds * self.count)


def report(count: int = 1_000, rounds: int = 2) -> list[tuple[str, str]]:
    with TemporaryDirectory() as directory:
        before, pools = _resident(), Pools(count, directory)
        pools.spent_s(1)
        packed = len(pickle.dumps(pools.lessons())) / count
        learning = pools.spent_s(rounds)
        for held in pools.agents._entries.values():
            held.agent.learner.adam.steps = max(held.agent.learner.adam.steps, LEARNING)
        learnt = pools.spent_s(rounds)
        files = sum(os.path.getsize(os.path.join(directory, name)) for name in os.listdir(directory))
        begun = time.process_time()
        for _ in range(200):
            agent_estimate(pools.learned, Facts(), 20, True, 1_000 * pools._at_s)
        deciding = (time.process_time() - begun) / 200
    return [
        ("pools, in one process that trains", f"{count:,}"),
        ("CPU time for a second of a pool that learns (22 gradient steps)", f"{learning * 1e3:.2f} ms"),
        ("of one that has learnt (2 gradient steps)", f"{learnt * 1e3:.2f} ms"),
        (f"cores for {count:,} pools that have learnt", f"{learnt * count:.2f}"),
        ("pools at a time that may learn at the full rate on one core", f"{1 / learning:,.0f}"),
        ("CPU time of the process that decides, to name a size from an opinion", f"{deciding * 1e6:.0f} us"),
        ("bytes handed over for a lesson of 15 s", f"{packed:,.0f}"),
        ("memory of an agent that has learnt for 30 s", f"{(_resident() - before) / count / 1e3:.0f} kB"),
        ("of a full replay memory besides", "540 kB"),
        ("its checkpoint on the disk", f"{files / count / 1e3:.0f} kB"),
    ]


def _resident() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
