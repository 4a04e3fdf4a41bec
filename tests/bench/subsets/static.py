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

Key = tuple[str, str, float, str]
"""Shape, imbalance, workload, routing."""


ALL = [(level, workload, "round_robin") for level in ("low", "high") for workload in WORKLOADS]
ALL += [("none", NOMINAL, "round_robin")] + [(level, NOMINAL, "least_request") for level in IMBALANCE]
"""Imbalance, workload, routing."""


def cells(
    names: Sequence[str] = (*RIVALS, FULL, MICRONS),
    shapes: Iterable[str] = tuple(SHAPES),
    cases: Iterable[tuple[str, float, str]] = tuple(ALL),
    seeds: tuple[int, ...] = SEEDS,
    containers: int = CONTAINERS,
) -> dict[Key, dict[str, Cell]]:
    results: dict[Key, dict[str, Cell]] = {}
    for shape in shapes:
        learnt = samples(shape, containers)
        for level, workload, routing in cases:
            how = Deployment(containers, IMBALANCE[level], workload)
            results[shape, level, workload, routing] = {
                name: cell(shape, how, strategy(name, learnt), routing, seeds) for name in names
            }
    return results


def run(quick: bool) -> str:
    """Quick: one application on few containers, one case, one seed."""
    if not quick:
        return report(cells())
    return report(cells(shapes=["hotel"], cases=ALL[3:4], seeds=SEEDS[:1], containers=96))


def report(cells_by_key: dict[Key, dict[str, Cell]]) -> str:
    return "\n".join([bars(cells_by_key), _against(cells_by_key), _details(cells_by_key)])


def bars(cells_by_key: dict[Key, dict[str, Cell]]) -> str:
    """Of each the worst case. Users call the first service evenly under each strategy, so its own time is no part of
    the figure; the rows of users show the whole latency."""
    rows = []
    for level in IMBALANCE:
        here = {key: by_name for key, by_name in cells_by_key.items() if key[1] == level and MICRONS in by_name}
        if not here:
            continue
        median = {key: by_name[MICRONS].below_p95 / _median(by_name) for key, by_name in here.items()}
        of_users = {key: by_name[MICRONS].p95 / _median(by_name, "p95") for key, by_name in here.items()}
        best = {
            key: by_name[MICRONS].below_p95 / min(by_name[name].below_p95 for name in RIVALS)
            for key, by_name in here.items()
        }
        full = {key: by_name[MICRONS].below_p95 / by_name[FULL].below_p95 for key, by_name in here.items()}
        few = {key: by_name[MICRONS].connections / by_name[FULL].connections for key, by_name in here.items()}
        if level == "high":
            rows.append(_bar("high: beside the median of the rivals", "-60 %", median, 0.4))
            rows.append(_bar("high: of users, beside the median of the rivals", "-60 %", of_users, 0.4))
        rows.append(
            _bar(f"{level}: beside the best of the rivals", "below" if level != "none" else "not above", best, 1.0)
        )
        rows.append(_bar(f"{level}: beside fully connected", "-20 %", full, 0.8))
        rows.append(_bar(f"{level}: connections of fully connected's", "a tenth", few, 0.1))
    head = "| 95th percentile | bar | mean | worst | where | met |\n|---|---|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _bar(what: str, bar: str, ratios: dict[Key, float], most: float) -> str:
    worst = max(ratios, key=lambda key: ratios[key])
    met = sum(ratio <= most for ratio in ratios.values())
    shape, _, workload, routing = worst
    where = f"{shape}, {workload:g}, {routing.replace('_', ' ')}"
    mean = float(np.mean(list(ratios.values())))
    return (
        f"| {what} | {bar} | {_shown(what, mean)} | {_shown(what, ratios[worst])} | {where} | {met} of {len(ratios)} |"
    )


def _shown(what: str, ratio: float) -> str:
    return f"{ratio:.1%}" if "connections" in what else below(ratio, 1.0)


def _median(by_name: dict[str, Cell], figure: str = "below_p95") -> float:
    return float(np.median([getattr(by_name[name], figure) for name in RIVALS]))


def _details(cells_by_key: dict[Key, dict[str, Cell]]) -> str:
    heads = ["application", "imbalance", "workload", "routing", "strategy", "p50", "p95", "p99"]
    heads += ["p95 below the first service", "cores", "connections"]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for (shape, level, workload, routing), by_name in cells_by_key.items():
        lines += [
            f"| {shape} | {level} | {workload:g} | {routing.replace('_', ' ')} | {name} | {item.p50:,.0f} "
            f"| {item.p95:,.0f} | {item.p99:,.0f} | {item.below_p95:,.0f} | {item.cores:.1f} "
            f"| {item.connections:,.0f} |"
            for name, item in by_name.items()
        ]
    return "\n".join(lines) + "\n"


def _against(cells_by_key: dict[Key, dict[str, Cell]]) -> str:
    """By how much Microns' 95th percentile is below, without the first service's own time: of each rival, and of their
    median."""
    lines = [
        "| application | imbalance | workload | routing | " + " | ".join((*RIVALS, FULL, "median of the rivals")) + " |"
    ]
    lines.append("|" + "---|" * (5 + len(RIVALS) + 1))
    for (shape, level, workload, routing), by_name in cells_by_key.items():
        if MICRONS not in by_name:
            continue
        ours = by_name[MICRONS].below_p95
        shown = [below(ours, by_name[name].below_p95) for name in (*RIVALS, FULL)] + [below(ours, _median(by_name))]
        lines.append(f"| {shape} | {level} | {workload:g} | {routing.replace('_', ' ')} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def below(ours: float, theirs: float) -> str:
    """74.4 % below: `-74.4 %`."""
    return f"{(ours / theirs - 1.0) * 100.0:+.1f} %"
