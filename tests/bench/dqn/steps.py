"""A run under whoever sizes the pool once a second, and the reward of each second by what really was: CPU time used,
response times of the users' spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bench.dqn.settings import SETTINGS
from testbed.fine import PoolWindows
from testbed.single.run import FastRun
from testbed.single.scenario import Scenario
from testbed.tiers.run import Floats

BOUNDS = (1, 200)
"""Tomcat's default is 200 threads, which is the paper's largest action."""
LARGEST_STEP = 2
"""Of the guard: a factor 2 either way in one change, as of the product."""


SHARE, MEAN_OF = 0.95, 10
"""A run has come there once the mean reward of so many seconds is such a share of the best size's."""


class Sizer(Protocol):
    def size(self, windows: PoolWindows, now_s: float) -> int:
        """After each second, from its windows of 100 ms and those of the seconds before it."""
        ...


@dataclass(frozen=True)
class Held:
    threads: int

    def size(self, windows: PoolWindows, now_s: float) -> int:
        return self.threads


@dataclass(frozen=True)
class Step:
    """reward: of the second. asked: what the sizer wanted; size: what the guard let it have for the next second."""

    reward: float
    asked: int
    size: int
    cpu: float


def drive(scenario: Scenario, build: Callable[[FastRun], Sizer], seed: int, start: int, seconds: int) -> list[Step]:
    service = scenario.service.model_copy(update={"threads": start})
    run = FastRun(scenario.model_copy(update={"service": service}), seed)
    sizer, result, used = build(run), [], 0.0
    for second in range(1, seconds + 1):
        run.until(float(second))
        cpu = (run.core_seconds() - used) / run.cores
        used = run.core_seconds()
        slo_ms = scenario.slo_ms_at(second)
        rewarded = reward(run.windows(second - 1, second, 1_000, slo_ms), slo_ms / 1e3, cpu)
        named = sizer.size(run.windows(max(0, second - 10), second, 100, slo_ms), float(second))
        size = guarded(named, run.size)
        if size != run.size:
            run.resize(size)
        result.append(Step(rewarded, named, size, cpu))
    return result


def best_fixed(of: Scenario, since_s: int, sizes: Sequence[int]) -> tuple[float, int]:
    """Of the best held size: its reward, and itself."""
    means = {n: np.mean([s.reward for s in drive(of, lambda _: Held(n), 1, n, since_s + 60)[since_s:]]) for n in sizes}  # noqa: B023
    best = max(means, key=lambda n: means[n])
    return float(means[best]), best


def guarded(named: int, current: int) -> int:
    least, most = max(BOUNDS[0], -(-current // LARGEST_STEP)), min(BOUNDS[1], current * LARGEST_STEP)
    return min(max(named, least), most)


def reward(second: PoolWindows, slo_s: float, cpu: float) -> float:
    """alpha LR + beta TPR RU of one second, with the mean response time and the CPU in use as they were."""
    durations = second.judge_durations_ns / 1e9
    grown = second.queued + second.in_use
    done = len(durations)
    lr = min(1.0, slo_s / float(durations.mean())) if done else (1.0 if grown == 0 else 0.0)
    tpr = 1.0 if done or not grown else 0.0
    return SETTINGS.alpha * lr + SETTINGS.beta * tpr * min(1.0, cpu)


def smoothed(rewards: Floats, seconds: int = 10) -> Floats:
    """Mean of the last so many, shape (n,) to (n,)."""
    sums = np.cumsum(np.concatenate([[0.0], rewards]))
    n = np.arange(1, len(rewards) + 1)
    before = np.maximum(n - seconds, 0)
    result: Floats = (sums[n] - sums[before]) / (n - before)
    return result


def first(rewards: Sequence[float], wanted: float) -> int | None:
    """The first step at which the mean of the last 10 is as high; None where none is."""
    reached = np.flatnonzero(smoothed(np.array(rewards), MEAN_OF)[MEAN_OF - 1 :] >= wanted)
    return int(reached[0]) + MEAN_OF if len(reached) else None
