"""Microns with other parameters (7.4, figure 13): high imbalance, the mean of all applications."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench.subsets.cells import SEEDS, cell, samples
from bench.subsets.mistaken import mistaken
from bench.subsets.static import below
from bench.subsets.strategies import MICRONS, per_upstream, strategy
from testbed.mesh.application import Application
from testbed.mesh.dynamic import Strategy
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import HIGH, Deployment

VALUES: Mapping[str, Sequence[Any]] = {
    "learning_rate": (0.1, 0.3, 0.5, 0.7, 0.9),
    "stagnation": (2, 5, 10, 15),
    "balance": (0.02, 0.05, 0.1, 0.2, 0.4),
    "weights": (True, False),
}
USUAL = {"learning_rate": 0.5, "stagnation": 5, "balance": 0.1, "weights": True, "quota": 4, "prediction error": 0.0}
QUOTAS = (2, 4, 8, 16)
"""Connections for each upstream container."""
ERRORS = (0.0, 0.1, 0.2, 0.3)
"""By how much each container's latency is mispredicted, up or down."""
PAPER = {
    "learning_rate": "varies by less than 10 %",
    "stagnation": "better from 2 to 5, little beyond",
    "balance": "better when smaller, at more steps",
    "prediction error": "10.7 % more at 20 %",
    "quota": "27 % less from 2 to 8, more again at 16",
}


def p95s(
    containers: int = 512, seeds: tuple[int, ...] = SEEDS[:1], shapes: Sequence[str] = tuple(SHAPES)
) -> dict[str, dict[Any, float]]:
    """By parameter and value: 95th percentile, ms, the mean of the applications."""
    how = Deployment(containers, HIGH)

    def mean(solve: Callable[[str], Strategy]) -> float:
        """``solve``: from samples."""
        found = [cell(shape, how, solve(samples(shape, containers)), "round_robin", seeds).p95 for shape in shapes]
        return float(np.mean(found))

    found: dict[str, dict[Any, float]] = {}
    for name, values in VALUES.items():
        found[name] = {value: mean(_with(**{name: value})) for value in values}
    found["quota"] = {count: mean(_with(per_upstream(count))) for count in QUOTAS}
    found["prediction error"] = {share: mean(partial(mistaken, share)) for share in ERRORS}
    return found


def _with(quota: Callable[[Application], int] | None = None, **microns: Any) -> Callable[[str], Strategy]:
    return lambda learnt: strategy(MICRONS, learnt, quota, **microns)


def report(found: dict[str, dict[Any, float]]) -> str:
    lines = ["| parameter | value | p95 | beside the usual value | paper |", "|---|---|---|---|---|"]
    for name, values in found.items():
        usual = values[USUAL[name]]
        for value, p95 in values.items():
            lines.append(f"| {name} | {value} | {p95:,.0f} | {below(p95, usual)} | {PAPER.get(name, '')} |")
    return "\n".join(lines) + "\n"
