"""Figure 11: reward against cost after a change, and how far each decision is from the Pareto front of all of them.

A decision: a second, as in the paper, or the mean of 5 s, of which noise leaves less. Cost: CPU in use as a share of
its limit, and threads as a share of 60, the memory that they hold. The front: what no other decision of anybody with
the same seed, fixed sizes among them, is better than in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.decision.summary import markdown
from bench.dqn import session
from bench.dqn.steps import reward
from bench.dqn.workloads import ALONE, CHANGES, LEARNT, SLUICE, START, racer
from bench.kept import asked_seeds
from bench.racing import starting_at
from bench.scenarios import scenario
from testbed.single.memory import Floats
from testbed.single.names import POOL
from testbed.single.run import FastRun

WHO = (SLUICE, LEARNT, ALONE, "sct as published", *(f"fixed {n}" for n in (4, 6, 8, 10, 12, 15, 19, 23, 29)))
LENGTHS_S, MOST_THREADS, AT_S, UNTIL_S = (1, 5), 60.0, 160, 460
SEEDS = (1, 2, 3)


def run(task: tuple[str, str, int, int]) -> list[Any]:
    """(share of the CPU limit in use, threads, reward) of each second after the change."""
    workload, name, seed, until_s = task
    chosen = racer(name, seed)
    run = FastRun(starting_at(scenario(workload), chosen.threads or START), seed)
    controller, used, found, next_s = chosen.build(run), 0.0, [], chosen.period_s
    for second in range(1, until_s + 1):
        run.until(float(second))
        slo_ms = run.scenario.slo_ms_at(second)
        if second >= next_s - 1e-9:
            next_s += chosen.period_s
            until = max(0.0, second - chosen.delay_s)
            seen = run.windows(max(0.0, until - chosen.window_s), until, chosen.bucket_ms, slo_ms)
            for size in controller.decide(float(second), {POOL: seen}).values():
                if size != run.size:
                    run.resize(min(max(size, 1), 256))
        cpu = (run.core_seconds() - used) / run.cores
        used = run.core_seconds()
        rewarded = reward(run.windows(second - 1, second, 1_000, slo_ms), slo_ms / 1e3, cpu)
        if second > AT_S:
            found.append([cpu, run.size, rewarded])
    return found


def decisions(seconds: Sequence[Sequence[float]], length_s: int) -> Floats:
    """(cost, reward) of each, shape (n, 2)."""
    of = np.array(seconds)
    of = of[: len(of) // length_s * length_s].reshape(-1, length_s, 3).mean(axis=1)
    return np.stack([of[:, 0] + of[:, 1] / MOST_THREADS, of[:, 2]], axis=1)


def front(points: Floats) -> Floats:
    """Those that none is better than: lower cost and higher reward."""
    kept = [
        each
        for each in points
        if not ((points[:, 0] <= each[0]) & (points[:, 1] >= each[1]) & (points != each).any(axis=1)).any()
    ]
    return np.array(kept)


def away(points: Floats, best: Floats) -> Floats:
    """How far each is from the nearest of the front, shape (n,)."""
    found: Floats = np.linalg.norm(points[:, None, :] - best[None], axis=2).min(axis=1)
    return found


def report(
    changes: Sequence[str] = CHANGES, given: Sequence[int] = SEEDS, until_s: int = UNTIL_S, keep: bool = True
) -> str:
    seeds = asked_seeds(given) if keep else tuple(given)
    tasks = [(change, name, seed, until_s) for seed in seeds for change in changes for name in WHO]
    found = session.runs("pareto", tasks, run, keep)
    return "\n".join(
        f"`{change}`, {AT_S} to {until_s} s, seeds {', '.join(map(str, seeds))}; deviation of every decision from the"
        f" front, in brackets by seed:\n\n"
        f"{_table({name: [found[change, name, seed, until_s] for seed in seeds] for name in WHO})}"
        for change in changes
    )


def _table(of: dict[str, list[list[list[float]]]]) -> str:
    columns: dict[str, list[str]] = {name: [] for name in of}
    for length_s in LENGTHS_S:
        points = {name: [decisions(each, length_s) for each in seconds] for name, seconds in of.items()}
        fronts = [front(np.concatenate(each)) for each in zip(*points.values(), strict=True)]
        for name, each in points.items():
            means = [float(away(mine, best).mean()) for mine, best in zip(each, fronts, strict=True)]
            columns[name].append(f"{np.mean(means):.3f} ({', '.join(f'{mean:.3f}' for mean in means)})")
    rows = []
    for name, seconds in of.items():
        all_of_them = np.concatenate([decisions(each, 1) for each in seconds])
        rows.append([name, *columns[name], f"{all_of_them[:, 1].mean():.3f}", f"{all_of_them[:, 0].mean():.3f}"])
    head = ["who", *(f"deviation, decisions of {length_s} s" for length_s in LENGTHS_S), "reward", "cost"]
    return markdown(head, rows)
