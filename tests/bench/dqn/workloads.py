"""The six workloads of Table 3 and the changes of 5.4, beside hardware alone, SCT and SCG as published, the default."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.controllers.racers import HARDWARE, LEARNT, RACERS, SLUICE
from bench.decision.summary import markdown
from bench.decision.workloads import NAMES
from bench.dqn.sizers import Dqn
from bench.race import mapped
from bench.racing import Racer, Result, race, starting_at
from bench.scenarios import scenario
from testbed.controller import Controller
from testbed.single.names import POOL
from testbed.single.run import FastRun

CHANGES = ("slower_release", "twice_the_data")
ALONE = "dqn alone, data of now"
WHO = (SLUICE, LEARNT, ALONE, HARDWARE, "sct as published", "scg as published")
SEEDS, START = (1,), 60


def racer(name: str, seed: int) -> Racer:
    """`ALONE`: the agent as the paper has it, without the belief and the evaluation, on data that are not late."""
    if name != ALONE:
        return RACERS[name]

    def build(run: FastRun) -> Controller:
        agent = Dqn(run, seed)

        class Sized:
            def decide(self, now_s: float, windows):  # type: ignore[no-untyped-def]
                from bench.dqn.steps import guarded

                seen = windows[POOL]
                return {POOL: guarded(agent.size(seen, now_s), seen.size)}

        return Sized()

    return Racer(build, 1.0, 10.0)


def run(task: tuple[str, str, int]) -> Result:
    workload, name, seed = task
    return race(starting_at(scenario(workload), START), name, racer(name, seed), seed)


def report(names: Sequence[str] = (*NAMES, *CHANGES), seeds: Sequence[int] = SEEDS) -> str:
    tasks = [(workload, name, seed) for workload in names for name in WHO for seed in seeds]
    found = dict(zip(tasks, mapped(run, tasks, processes=1), strict=True))
    rows, ratios = [], {name: [] for name in WHO}  # type: dict[str, list[tuple[float, float]]]
    for workload in names:
        row = [workload]
        ours = np.mean([found[workload, LEARNT, seed].p99_ms for seed in seeds])
        for name in WHO:
            of = [found[workload, name, seed] for seed in seeds]
            p95, p99 = np.mean([each.p95_ms for each in of]), np.mean([each.p99_ms for each in of])
            good = np.mean([each.goodput_per_s for each in of])
            ratios[name].append((float(p99 / ours), float(good)))
            row.append(f"{p95:,.0f}, {p99:,.0f} ms, {good:,.0f}/s")
        rows.append(row)
    ends = [
        [name, f"{np.exp(np.mean(np.log([p99 for p99, _ in each]))):.2f}", f"{np.mean([g for _, g in each]):,.0f}"]
        for name, each in ratios.items()
    ]
    head = markdown(["workload", *WHO], rows)
    tail = markdown(["who", f"p99 / that of {LEARNT} (geometric mean)", "goodput/s (mean)"], ends)
    return f"p95, p99 and goodput, from {START} threads, seeds {', '.join(map(str, seeds))}.\n\n{head}\n{tail}"
