"""From 64 to 512 containers (Microns 2.3, figure 3): Social Network, hosts without other tenants and uneven ones."""

from __future__ import annotations

from collections.abc import Sequence

from bench.subsets.cells import SEEDS, Cell, cell, samples
from bench.subsets.static import below
from bench.subsets.strategies import FULL, MICRONS, of_full, strategy
from testbed.mesh.dynamic import Strategy
from testbed.mesh.presets.deployment import HIGH, LOW, Deployment

SHAPE = "social-network"
CONTAINERS = (64, 128, 256, 512)
DIFFERENCES = (0.0, LOW, HIGH)
TENTH = "microns, a tenth of full"
NAMES = ("sre", FULL, MICRONS, TENTH)
PAPER = {64: "-20.1 %", 512: "+35.1 %"}
"""Of fully connected, beside Rocksteady."""

Key = tuple[float, int]


def cells(
    names: Sequence[str] = NAMES,
    containers: Sequence[int] = CONTAINERS,
    differences: Sequence[float] = DIFFERENCES,
    seeds: tuple[int, ...] = SEEDS[:1],
    routing: str = "round_robin",
) -> dict[Key, dict[str, Cell]]:
    return {
        (difference, count): {
            name: cell(SHAPE, Deployment(count, difference), _strategy(name, count), routing, seeds) for name in names
        }
        for difference in differences
        for count in containers
    }


def _strategy(name: str, containers: int) -> Strategy:
    learnt = samples(SHAPE, containers)
    return strategy(MICRONS, learnt, of_full(0.1)) if name == TENTH else strategy(name, learnt)


def report(found: dict[Key, dict[str, Cell]]) -> str:
    names = list(next(iter(found.values())))
    head = [f"{name}: p95 (connections)" for name in names]
    if MICRONS in names:
        head += [f"{name} beside full" for name in names if name.startswith(MICRONS)]
    lines = ["| difference | containers | " + " | ".join([*head, "full beside sre", "paper"]) + " |"]
    lines.append("|---" * (len(head) + 4) + "|")
    for (difference, count), by_name in found.items():
        row = [f"{each.p95:,.0f} ({each.connections:,.0f})" for each in by_name.values()]
        if MICRONS in names:
            row += [below(by_name[name].p95, by_name[FULL].p95) for name in names if name.startswith(MICRONS)]
        row.append(below(by_name[FULL].p95, by_name["sre"].p95))
        row.append(PAPER.get(count, "") if difference == 0 else "")
        lines.append(f"| {difference:.0%} | {count} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"
