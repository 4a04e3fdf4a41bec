"""Figure 7: seconds that each needs under a static load, from 200 threads, the default of a framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.decision.summary import markdown
from bench.dqn.sizers import SIZERS
from bench.dqn.steps import BOUNDS, MEAN_OF, SHARE, best_fixed, drive, first
from bench.dqn.transfer import FIXED, KEPT, SEEDS
from bench.run_files import requested_seeds, runs
from bench.scenarios import scenario

START, STEPS = BOUNDS[1], 400
HEAD = [
    "sizer",
    f"steps to {SHARE:.0%} of the best (mean)",
    "seeds that came there",
    "reward later / best",
    "seconds later below 80 % of the best",
]


def run(task: tuple[str, int, int]) -> list[float]:
    """The reward of each step."""
    name, seed, steps = task
    return [
        step.reward for step in drive(scenario("static_load"), lambda run: SIZERS[name](run, seed), seed, START, steps)
    ]


def converges(quick: bool) -> str:
    return report((11,), 60, keep=False) if quick else report()


def report(given: Sequence[int] = SEEDS, steps: int = STEPS, keep: bool = True) -> str:
    seeds = requested_seeds(given) if keep else tuple(given)
    best, _ = best_fixed(scenario("static_load"), 10, FIXED)
    tasks = [(name, seed, steps) for name in SIZERS for seed in seeds]
    rewards = runs(KEPT / "convergence" if keep else None, tasks, run)
    later = min(100, steps // 2)
    rows = [_row(name, [rewards[name, seed, steps] for seed in seeds], best, later) for name in SIZERS]
    return (
        f"From {START} threads, {len(seeds)} seeds, {steps} steps of 1 s; the best fixed size has a reward of "
        f"{best:.3f}. A step counts where the mean of the last {MEAN_OF} is as high; a run that never came there "
        f"counts with {steps}. Later: after {later} steps.\n\n{markdown(HEAD, rows)}"
    )


def _row(name: str, of: Sequence[Any], best: float, later: int) -> list[str]:
    firsts = [first(rewards, SHARE * best) for rewards in of]
    reached = [step for step in firsts if step is not None]
    mean = np.mean([step if step is not None else len(of[0]) for step in firsts])
    after = np.array([rewards[later:] for rewards in of]) / best
    return [
        name,
        f"{'' if len(reached) == len(firsts) else '> '}{mean:.0f}",
        f"{len(reached)} of {len(firsts)}, {min(reached, default=0)} to {max(reached, default=0)}",
        f"{after.mean():.3f}",
        f"{(after < 0.8).mean():.1%}",
    ]
