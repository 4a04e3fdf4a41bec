"""Static deployments (Microns 7.2.1, figure 10): 512 containers, low and high imbalance, several workloads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bench.subsets.cells import SEEDS, Cell, cell, samples
from bench.subsets.strategies import FULL, MICRONS, RIVALS, strategy
from testbed.mesh.calibration import NOMINAL
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import HIGH, LOW, Deployment

CONTAINERS = 512
IMBALANCE = {"none": 0.0, "low": LOW, "high": HIGH}
WORKLOADS = (0.6, NOMINAL, 1.0)
ROUTINGS = ("round_robin", "least_request")

Key = tuple[str, str, float, str]
"""Shape, imbalance, workload, routing."""


def cells(
    names: Sequence[str] = (*RIVALS, FULL, MICRONS),
    shapes: Iterable[str] = tuple(SHAPES),
    imbalance: Iterable[str] = tuple(IMBALANCE),
    workloads: Iterable[float] = WORKLOADS,
    routings: Iterable[str] = ROUTINGS,
    seeds: tuple[int, ...] = SEEDS,
    containers: int = CONTAINERS,
) -> dict[Key, dict[str, Cell]]:
    found: dict[Key, dict[str, Cell]] = {}
    for shape in shapes:
        learnt = samples(shape, containers)
        for level in imbalance:
            for workload in workloads:
                how = Deployment(containers, IMBALANCE[level], workload)
                for routing in routings:
                    found[shape, level, workload, routing] = {
                        name: cell(shape, how, strategy(name, learnt), routing, seeds) for name in names
                    }
    return found


def report(found: dict[Key, dict[str, Cell]]) -> str:
    tables = [_details(found), _against(found)]
    return "\n".join(tables)


def _details(found: dict[Key, dict[str, Cell]]) -> str:
    lines = ["| application | imbalance | workload | routing | strategy | p50 | p95 | p99 | cores | connections |"]
    lines.append("|---|---|---|---|---|---|---|---|---|---|")
    for (shape, level, workload, routing), by_name in found.items():
        lines += [
            f"| {shape} | {level} | {workload:g} | {routing.replace('_', ' ')} | {name} | {each.p50:,.0f} "
            f"| {each.p95:,.0f} | {each.p99:,.0f} | {each.cores:.1f} | {each.connections:,.0f} |"
            for name, each in by_name.items()
        ]
    return "\n".join(lines) + "\n"


def _against(found: dict[Key, dict[str, Cell]]) -> str:
    """By how much Microns' 95th percentile is below: of each rival, and of their median."""
    lines = [
        "| application | imbalance | workload | routing | " + " | ".join((*RIVALS, FULL, "median of the rivals")) + " |"
    ]
    lines.append("|" + "---|" * (5 + len(RIVALS) + 1))
    for (shape, level, workload, routing), by_name in found.items():
        if MICRONS not in by_name:
            continue
        ours = by_name[MICRONS].p95
        rivals = [by_name[name].p95 for name in RIVALS]
        shown = [below(ours, by_name[name].p95) for name in (*RIVALS, FULL)] + [below(ours, float(np.median(rivals)))]
        lines.append(f"| {shape} | {level} | {workload:g} | {routing.replace('_', ' ')} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def below(ours: float, theirs: float) -> str:
    """74.4 % below: `-74.4 %`."""
    return f"{(ours / theirs - 1.0) * 100.0:+.1f} %"
