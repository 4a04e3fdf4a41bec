"""Figure 7: how many seconds each needs under a static load, from 200 threads, the default of a framework."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bench.decision.summary import markdown
from bench.dqn import session
from bench.dqn.sizers import SIZERS
from bench.dqn.steps import drive, guarded, smoothed
from bench.kept import asked_seeds
from bench.scenarios import scenario
from testbed.fine import PoolWindows

SEEDS = tuple(range(11, 21))
"""Never those that settings were chosen on (1 to 10)."""
START, STEPS, SHARE, MEAN_OF = 200, 400, 0.95, 10
FIXED = (4, 6, 8, 10, 12, 14, 17, 20)


@dataclass(frozen=True)
class Held:
    threads: int

    def size(self, seen: PoolWindows, now_s: float) -> int:
        return self.threads


def run(task: tuple[str, int, int]) -> list[Any]:
    """(reward, size for the next second) of each step."""
    name, seed, steps = task
    of = drive(scenario("static_load"), lambda run: SIZERS[name](run, seed), seed, START, steps)
    return [[each.reward, each.size] for each in of]


def best_reward(seeds: Sequence[int] = (1, 2, 3), seconds: int = 60) -> float:
    """Of the best fixed size, after 10 s."""
    load = scenario("static_load")
    means = [
        np.mean([each.reward for seed in seeds for each in drive(load, lambda _: Held(n), seed, n, seconds)[10:]])  # noqa: B023
        for n in FIXED
    ]
    return float(max(means))


def first(rewards: Sequence[float], wanted: float) -> int | None:
    """The first step at which the mean of the last 10 is as high; None where none is."""
    reached = np.flatnonzero(smoothed(np.array(rewards), MEAN_OF)[MEAN_OF - 1 :] >= wanted)
    return int(reached[0]) + MEAN_OF if len(reached) else None


def report(given: Sequence[int] = SEEDS, steps: int = STEPS, keep: bool = True) -> str:
    best, seeds = best_reward(), asked_seeds(given) if keep else tuple(given)
    found = session.runs("convergence", [(name, seed, steps) for name in SIZERS for seed in seeds], run, keep)
    rows, settled = [], min(100, steps // 2)
    for name in SIZERS:
        mine = [found[name, seed, steps] for seed in seeds]
        firsts = [first([reward for reward, _ in each], SHARE * best) for each in mine]
        reached = [each for each in firsts if each is not None]
        mean = np.mean([each if each is not None else steps for each in firsts])
        after = np.mean([reward for each in mine for reward, _ in each[settled:]]) / best
        late = np.mean([reward < 0.8 * best for each in mine for reward, _ in each[settled:]])
        outside = sum(size != guarded(size, before) for each in mine for (_, before), (_, size) in pairwise(each))
        rows.append(
            [
                name,
                f"{'' if len(reached) == len(firsts) else '> '}{mean:.0f}",
                f"{len(reached)} of {len(firsts)}, {min(reached, default=0)} to {max(reached, default=0)}",
                f"{after:.3f}",
                f"{late:.1%}",
                f"{outside}",
            ]
        )
    head = [
        "who",
        f"steps to {SHARE:.0%} of the best (mean)",
        "seeds that came there",
        f"reward after {settled} steps / best",
    ]
    head += [f"seconds after {settled} below 80 % of the best", "sizes outside the guard"]
    return (
        f"From {START} threads, {len(seeds)} seeds, {steps} steps of 1 s; the best fixed size's reward is {best:.3f}. A"
        f" step counts where the mean of the last {MEAN_OF} is as high; who never came there counts with {steps}."
        f"\n\n{markdown(head, rows)}"
    )
