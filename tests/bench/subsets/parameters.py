"""Microns with other parameters and with wrong predictions (7.4, figure 13): high imbalance, without our weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bench.subsets.cells import cell, samples
from bench.subsets.static import below
from bench.subsets.strategies import MICRONS, Mistake, Strategy, strategy
from sluice.subsets.latency.curves import Curves
from testbed.mesh.application import Application
from testbed.mesh.graph import flatten
from testbed.mesh.presets.deployment import HIGH, Deployment

USUAL = {"learning_rate": 0.5, "stagnation": 5, "balance": 0.1, "quota": 4, "error": 0.0}
"""Of the paper; quota: connections for each upstream container. error: by which part of it each container's latency is
predicted too high or too low."""
VALUES: Mapping[str, tuple[float, ...]] = {
    "learning_rate": (0.1, 0.9),
    "stagnation": (2, 15),
    "balance": (0.02, 0.05, 0.2, 0.4),
    "quota": (2, 8, 16),
    "error": (0.1, 0.2, 0.3),
}
PAPER = {
    "learning_rate": "varies by less than 10 %",
    "stagnation": "better from 2 to 5, little beyond",
    "balance": "better when smaller, at more steps",
    "quota": "-27 % from 2 to 8, more again at 16",
    "error": "+10.7 % at 0.2",
}


def with_parameter(name: str, value: float, learnt: str, weights: bool = False) -> Strategy:
    """Microns with one parameter of ``USUAL`` set. ``learnt``: CSV of latency samples."""
    if name == "error":
        return _given(strategy(MICRONS, learnt, mistaken(value, 1)), {"weights": weights})
    if name == "quota":
        return _given(strategy(MICRONS, learnt), {"weights": weights}, int(value))
    return _given(strategy(MICRONS, learnt), {"weights": weights, name: value})


def _given(solve: Strategy, microns: Mapping[str, Any], per_upstream: int | None = None) -> Strategy:
    def solution(application: dict[str, Any]) -> Any:
        quota = (
            {} if per_upstream is None else {"quota": quota_of(Application.model_validate(application), per_upstream)}
        )
        return solve(application | quota | {"microns": dict(microns)})

    return solution


def quota_of(application: Application, per_upstream: int) -> int:
    """So many connections for each upstream container of each pair, or the fewest that are legal. Worked: 3 containers
    call 10; 4 each are 12, and 2 each would be 6, which leaves 4 without a caller: 10."""
    services = application.services
    counts = [(len(services[up].containers), len(services[down].containers)) for up, down in flatten(application).pairs]
    fewest = sum(max(up * min(application.min_subset, down), down) for up, down in counts)
    return max(fewest, per_upstream * sum(up for up, _ in counts))


def mistaken(part: float, seed: int) -> Mistake:
    """Each container's latency is predicted ``part`` too high or too low, whichever is drawn, at every load."""
    rng = np.random.default_rng(seed)

    def off(curves: Curves) -> Curves:
        factor = 1.0 + part * rng.choice([-1.0, 1.0], len(curves.mu))
        return replace(curves, mu=curves.mu + np.log(factor)[:, None])

    return off


def parameters(containers: int, seeds: tuple[int, ...], shapes: Iterable[str]) -> str:
    how, applications = Deployment(containers, HIGH), list(shapes)

    def mean(name: str, value: float) -> float:
        """ms; of the applications, each the mean of its seeds."""
        return float(
            np.mean(
                [
                    cell(shape, how, with_parameter(name, value, samples(shape, containers)), "round_robin", seeds).p95
                    for shape in applications
                ]
            )
        )

    usual = mean("stagnation", USUAL["stagnation"])
    return report(usual, {name: {value: mean(name, value) for value in values} for name, values in VALUES.items()})


def report(usual: float, results: Mapping[str, Mapping[float, float]]) -> str:
    """``usual``: the 95th percentile with the paper's values, ms; ``results``: by parameter and other value."""
    lines = ["| parameter, without weights | value | p95 | beside the paper's value | paper |", "|---" * 5 + "|"]
    for name, by_value in results.items():
        for value, p95 in sorted({USUAL[name]: usual, **by_value}.items()):
            lines.append(f"| {name} | {value:g} | {p95:,.0f} | {below(p95, usual)} | {PAPER[name]} |")
    return "\n".join(lines) + "\n"
