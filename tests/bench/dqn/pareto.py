"""Figure 11: reward against cost after a change, and how far each decision is from the Pareto front of all of them.

A decision: the mean of 5 s. Cost: CPU in use as a share of its limit, and threads as a share of 60, the memory that
they hold. The front: what no other decision of anybody, fixed sizes among them, is better than in both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.decision.summary import markdown
from bench.dqn.steps import reward
from bench.dqn.workloads import ALONE, LEARNT, SLUICE, START, racer
from bench.racing import starting_at
from bench.scenarios import scenario
from testbed.single.memory import Floats
from testbed.single.names import POOL
from testbed.single.run import FastRun

WHO = (SLUICE, LEARNT, ALONE, "sct as published", *(f"fixed {n}" for n in (4, 6, 8, 10, 12, 15, 19, 23, 29)))
EACH_S, MOST_THREADS, AT_S = 5, 60.0, 160


def decisions(workload: str, name: str, seed: int, until_s: int) -> Floats:
    """(cost, reward) of each, shape (n, 2), after the change."""
    chosen, run = racer(name, seed), None
    run = FastRun(starting_at(scenario(workload), chosen.threads or START), seed)
    controller, used, found, next_s = chosen.build(run), 0.0, [], chosen.period_s
    for second in range(1, until_s + 1):
        run.until(float(second))
        if second >= next_s - 1e-9:
            next_s += chosen.period_s
            until = max(0.0, second - chosen.delay_s)
            slo_ms = run.scenario.slo_ms_at(second)
            seen = run.windows(max(0.0, until - chosen.window_s), until, chosen.bucket_ms, slo_ms)
            for size in controller.decide(float(second), {POOL: seen}).values():
                if size != run.size:
                    run.resize(min(max(size, 1), 256))
        if second % EACH_S == 0:
            slo_ms = run.scenario.slo_ms_at(second)
            cpu = (run.core_seconds() - used) / run.cores / EACH_S
            used = run.core_seconds()
            rewarded = reward(run.windows(second - EACH_S, second, 1_000, slo_ms), slo_ms / 1e3, cpu)
            if second > AT_S:
                found.append((cpu + run.size / MOST_THREADS, rewarded))
    return np.array(found)


def front(points: Floats) -> Floats:
    """Those that none is better than: lower cost and higher reward."""
    kept = [
        each
        for each in points
        if not ((points[:, 0] <= each[0]) & (points[:, 1] >= each[1]) & (points != each).any(axis=1)).any()
    ]
    return np.array(kept)


def report(workload: str = "slower_release", seeds: Sequence[int] = (1,), until_s: int = 460) -> str:
    of = {name: np.concatenate([decisions(workload, name, seed, until_s) for seed in seeds]) for name in WHO}
    best = front(np.concatenate(list(of.values())))
    rows = []
    for name, points in of.items():
        away = np.linalg.norm(points[:, None, :] - best[None], axis=2).min(axis=1)
        rows.append([name, f"{away.mean():.3f}", f"{points[:, 1].mean():.3f}", f"{points[:, 0].mean():.3f}"])
    return markdown(["who", "mean distance to the front", "reward", "cost"], rows)
