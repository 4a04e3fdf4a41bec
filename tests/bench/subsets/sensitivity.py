"""Microns with other parameters (7.4, figure 13): high imbalance, the mean of all applications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.subsets.cells import SEEDS, cell, samples
from bench.subsets.static import below
from bench.subsets.strategies import MICRONS, strategy
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import HIGH, Deployment

VALUES: Mapping[str, Sequence[Any]] = {
    "learning_rate": (0.1, 0.3, 0.5, 0.7, 0.9),
    "stagnation": (2, 5, 10, 15),
    "balance": (0.02, 0.05, 0.1, 0.2, 0.4),
    "weights": (True, False),
}
USUAL = {"learning_rate": 0.5, "stagnation": 5, "balance": 0.1, "weights": True}
QUOTAS = (2, 4, 8, 16)
"""Connections for each upstream container."""
PAPER = {
    "learning_rate": "varies by less than 10 %",
    "stagnation": "better from 2 to 5, little beyond",
    "balance": "better when smaller, at more steps",
    "quota": "27 % less from 2 to 8, more again at 16",
}


def p95s(
    containers: int = 512, seeds: tuple[int, ...] = SEEDS, shapes: Sequence[str] = tuple(SHAPES)
) -> dict[str, dict[Any, float]]:
    """By parameter and value: 95th percentile, ms, the mean of the applications."""
    how = Deployment(containers, HIGH)

    def mean(quota: int | None = None, **microns: Any) -> float:
        found = [
            cell(shape, how, strategy(MICRONS, samples(shape, containers), quota, **microns), "round_robin", seeds).p95
            for shape in shapes
        ]
        return float(np.mean(found))

    found = {name: {value: mean(**{name: value}) for value in values} for name, values in VALUES.items()}
    found["quota"] = {quota: mean(quota) for quota in QUOTAS}
    return found


def report(found: dict[str, dict[Any, float]]) -> str:
    lines = ["| parameter | value | p95 | beside the usual value | paper |", "|---|---|---|---|---|"]
    for name, values in found.items():
        usual = values[USUAL.get(name, 4)]
        for value, p95 in values.items():
            lines.append(f"| {name} | {value} | {p95:,.0f} | {below(p95, usual)} | {PAPER.get(name, '')} |")
    return "\n".join(lines) + "\n"
