"""Why Microns gains less under a changing load than the paper has (7.2.2): one thing changed at a time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from bench.subsets.ablations import with_settings
from bench.subsets.cells import SEEDS, samples
from bench.subsets.changing import Changing, World
from bench.subsets.dynamic_report import NAMES, PLAIN, Results, Summary, report, summary
from bench.subsets.strategies import MICRONS, Following, following
from testbed.mesh.presets import SHAPES

SHAPE = "social-network"
BASE = World()
CASES: Mapping[str, World] = {
    "as the paper has it": BASE,
    "no other tenants": replace(BASE, before=0.0, after=0.0),
    "60 % difference in the second half": replace(BASE, after=0.6),
    "twice the containers": replace(BASE, containers=512),
    "containers ready after 120 s": replace(BASE, ready_s=120.0),
    "autoscaler without lost time": replace(BASE, sees_lost=False),
}
HELD: Mapping[str, World] = {
    "containers of Microns' run": BASE,
    "the same at 1.5 times the load": replace(BASE, load=1.5),
}
"""All strategies have the numbers of containers that Microns had in the first case."""


def follow(name: str, containers: int) -> Following:
    learnt = samples(SHAPE, containers)
    if name != PLAIN:
        return following(name, learnt)
    microns = following(MICRONS, learnt)
    return lambda application, before: microns(with_settings(application, weights=False), before)


Task = tuple[World, str, Sequence[Sequence[int]] | None]
"""World, strategy, containers to replay."""


def one(task: Task) -> Summary:
    world, name, replay = task
    return summary(Changing(SHAPES[SHAPE], world, follow(name, BASE.containers), replay).whole())


def results(cases: Mapping[str, World], held: Mapping[str, World], seeds: Sequence[int]) -> Results:
    """The first case with all seeds, the others with the first one."""
    base = next(iter(cases))

    def tasks(worlds: Mapping[str, World], replay: Sequence[Sequence[int]] | None) -> list[tuple[str, str, Task]]:
        return [
            (case, name, (replace(world, seed=seed), name, replay))
            for case, world in worlds.items()
            for seed in (seeds if case == base else seeds[:1])
            for name in NAMES
        ]

    by_case: Results = {}
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for worlds in (cases, held):
            replay = None if worlds is cases else by_case[base][MICRONS][0].counts
            todo = tasks(worlds, replay)
            for (case, name, _), result in zip(todo, pool.map(one, [task for *_, task in todo]), strict=True):
                by_case.setdefault(case, {}).setdefault(name, []).append(result)
    return by_case


def run(quick: bool) -> str:
    """Quick: two cases."""
    if quick:
        few = dict(list(CASES.items())[:2])
        return report(results(few, {}, SEEDS[:1]))
    return report(results(CASES, HELD, SEEDS))
