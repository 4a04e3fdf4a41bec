"""Another CPU limit: an agent that knows 2 cores, and one that knows nothing, once there are 4 for twice the users.

What an agent takes along is varied, so that it shows what of it is in its way: the weights, the replay memory, or both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bench.decision.summary import markdown
from bench.dqn.settings import SETTINGS
from bench.dqn.sizers import Dqn
from bench.dqn.steps import SHARE, Sizer, best_fixed, drive, first
from bench.results import OUT
from bench.run_files import requested_seeds, runs
from bench.scenarios import scenario
from testbed.fine import PoolWindows
from testbed.single.run import FastRun
from testbed.single.scenario import Event, Scenario

SEEDS = tuple(range(11, 21))
"""Never those that settings were chosen on (1 to 10)."""
FIXED = (4, 6, 8, 10, 12, 14, 17, 20)
AT_S, STEPS = 120, 200
KEPT = OUT / "dqn"
TOGETHER = replace(SETTINGS, apart=False)


class Begun:
    """Holds the size until the limit changes, and begins then."""

    def __init__(self, run: FastRun, seed: int) -> None:
        self._agent = Dqn(run, seed)

    def size(self, windows: PoolWindows, now_s: float) -> int:
        return self._agent.size(windows, now_s) if now_s >= AT_S else 10


class Changed(Dqn):
    """One network for both limits, of which a part is made anew as the limit changes."""

    def __init__(self, run: FastRun, seed: int, weights: bool = False, replay: bool = False) -> None:
        super().__init__(run, seed, TOGETHER)
        self._weights, self._replay = weights, replay

    def size(self, windows: PoolWindows, now_s: float) -> int:
        if now_s == AT_S:
            before, new = self.agent.learner, self.agent.begun()
            if not self._replay:
                new.replay = before.replay
            if not self._weights:
                new.theta, new.target, new.adam = before.theta, before.target, before.adam
            self.agent.learner = self.agent.learners[""] = new
        return super().size(windows, now_s)


def agent(name: str, run: FastRun, seed: int) -> Sizer:
    match name:
        case "begins then":
            return Begun(run, seed)
        case "one network for both limits":
            return Dqn(run, seed, TOGETHER)
        case "the same, its replay memory emptied then":
            return Changed(run, seed, replay=True)
        case "the same, its weights begun anew then":
            return Changed(run, seed, weights=True)
        case _:
            return Dqn(run, seed)


AGENTS = (
    "a network and a memory for each limit",
    "one network for both limits",
    "the same, its replay memory emptied then",
    "the same, its weights begun anew then",
    "begins then",
)


def doubled(back_s: float | None = None) -> Scenario:
    """back_s: when the limit and the load are what they were at first again."""
    load = [[0.0, 0.5], [float(AT_S), 0.5], [AT_S + 1.0, 1.0]]
    events = [Event(at_s=float(AT_S), cores=2.0)]
    if back_s is not None:
        load += [[back_s, 1.0], [back_s + 1.0, 0.5]]
        events.append(Event(at_s=back_s, cores=1.0))
    given = scenario("static_load").model_dump() | {"users": 2400, "load": load}
    return Scenario.model_validate(given | {"events": events})


def run(task: tuple[str, int, int]) -> list[Any]:
    """(reward, size) of each step after the change."""
    name, seed, steps = task
    steps_run = drive(doubled(), lambda run: agent(name, run, seed), seed, 10, AT_S + steps)[AT_S:]
    return [[item.reward, item.size] for item in steps_run]


def returned(task: tuple[str, int, int]) -> list[Any]:
    """The same after the limit has come back, `steps` later."""
    name, seed, steps = task
    back_s = AT_S + steps
    steps_run = drive(doubled(float(back_s)), lambda run: agent(name, run, seed), seed, 10, back_s + 100)[back_s:]
    return [[item.reward, item.size] for item in steps_run]


def transfers(quick: bool) -> str:
    return report((11,), 40, keep=False) if quick else report()


def report(given: Sequence[int] = SEEDS, steps: int = STEPS, keep: bool = True) -> str:
    seeds = requested_seeds(given) if keep else tuple(given)
    best, size = best_fixed(doubled(), AT_S + 20, (*FIXED, 24, 29, 35))
    low, small = best_fixed(doubled(float(AT_S + 60)), AT_S + 80, FIXED)
    tasks = [(name, seed, steps) for name in AGENTS for seed in seeds]
    there = runs(KEPT / "transfer" if keep else None, tasks, run)
    again_by = AGENTS[:2]
    tasks = [(name, seed, steps) for name in again_by for seed in seeds]
    again = runs(KEPT / "transfer-back" if keep else None, tasks, returned)
    head = ["agent", f"steps to {SHARE:.0%} of the best (mean)", "seeds that came there", "first 50 steps / best"]
    head.append("threads in them (mean)")
    rows = [_row(name, [there[name, seed, steps] for seed in seeds], best) for name in AGENTS]
    back = [_row(name, [again[name, seed, steps] for seed in seeds], low) for name in again_by]
    return (
        f"From 2 cores to 4 and twice the users, {len(seeds)} seeds; {size} threads are the best size held.\n\n"
        f"{markdown(head, rows)}\nBack to 2 cores and half of the users {steps} s later, where {small} are:\n\n"
        f"{markdown(head, back)}"
    )


def _row(name: str, of: Sequence[Sequence[tuple[float, int]]], best: float) -> list[str]:
    steps = len(of[0])
    firsts = [first([reward for reward, _ in item], SHARE * best) for item in of]
    reached = [first for first in firsts if first is not None]
    mean = np.mean([first if first is not None else steps for first in firsts])
    after = np.mean([reward for item in of for reward, _ in item[:50]]) / best
    sizes = np.mean([size for item in of for _, size in item[:50]])
    at_least = "" if len(reached) == len(firsts) else "> "
    return [name, f"{at_least}{mean:.0f}", f"{len(reached)} of {len(firsts)}", f"{after:.3f}", f"{sizes:.0f}"]
