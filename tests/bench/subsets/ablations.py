"""What each module of Microns is worth (7.2.3, figure 12), and each parameter (7.4, figure 13), without our weights.

``connect``: no quota adjuster; quotas stay in proportion to the upstream containers. ``quota``: no connection manager;
connections balance workload, as if all hosts were alike. ``graph``: no graph merge; parallel calls count as if they
came one after the other. Each is made by what the solver gets, so the solver is the shipped one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from bench.subsets.cells import SEEDS, cell, samples
from bench.subsets.parameters import parameters
from bench.subsets.static import below
from bench.subsets.strategies import MICRONS, Strategy, strategy
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import HIGH, LOW, Deployment

STILL = 1e-9
"""A learning rate with which no quota moves."""
PAPER = {"quota": "-54.6 % (-65.5 % at high)", "connect": "-39.2 %", "graph": "-17.8 % (media)"}
"""The whole method's latency beside that without the module."""
LEVELS = {"low": LOW, "high": HIGH}

P95 = dict[tuple[str, str, bool], dict[str, list[float]]]
"""By application, imbalance and whether with weights: by variant the 95th percentile of each seed, ms."""


def without(module: str, whole: Strategy) -> Strategy:
    """``module``: of ``PAPER``, or "" for the whole method."""
    change = CHANGES[module]
    return lambda application: whole(change(application))


def weighted(weights: bool, whole: Strategy) -> Strategy:
    return lambda application: whole(with_settings(application, weights=weights))


def with_settings(application: dict[str, Any], **microns: Any) -> dict[str, Any]:
    return application | {"microns": application.get("microns", {}) | microns}


def still(application: dict[str, Any]) -> dict[str, Any]:
    return with_settings(application, learning_rate=STILL)


def alike(application: dict[str, Any]) -> dict[str, Any]:
    """Every host has the mean utilizations."""
    figures = ("cpu", "memory_bandwidth", "network")
    mean = {figure: float(np.mean([host[figure] for host in application["hosts"]])) for figure in figures}
    return application | {"hosts": [host | mean for host in application["hosts"]]}


def serial(application: dict[str, Any]) -> dict[str, Any]:
    """Every call is a stage of its own."""

    def one(call: dict[str, Any]) -> dict[str, Any]:
        return call | {"stages": [[one(called)] for stage in call.get("stages", []) for called in stage]}

    return application | {"roots": [root | {"tree": one(root["tree"])} for root in application["roots"]]}


CHANGES: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "": with_settings,
    "quota": alike,
    "connect": still,
    "graph": serial,
}


def modules(containers: int, seeds: tuple[int, ...], shapes: Iterable[str]) -> P95:
    results: P95 = {}
    for shape in shapes:
        whole = strategy(MICRONS, samples(shape, containers))
        for level, difference in LEVELS.items():
            how = Deployment(containers, difference)
            for weights in (False, True):
                variants = {module: without(module, weighted(weights, whole)) for module in ("", *PAPER)}
                results[shape, level, weights] = {
                    module: [cell(shape, how, solve, "round_robin", (seed,)).p95 for seed in seeds]
                    for module, solve in variants.items()
                }
    return results


def report(results: Mapping[tuple[str, str, bool], Mapping[str, list[float]]]) -> str:
    """Of each variant the mean of the seeds and, in brackets, the whole method beside it; then all seeds' range."""
    lines = ["| weights | application | imbalance | whole | " + " | ".join(PAPER) + " |", "|---" * 7 + "|"]
    for (shape, level, weights), by_module in sorted(results.items(), key=lambda item: item[0][2]):
        whole = by_module[""]
        row = ["with" if weights else "without", shape, level, f"{np.mean(whole):,.0f}"]
        for module in PAPER:
            other = by_module[module]
            ratios = [ours / theirs - 1.0 for ours, theirs in zip(whole, other, strict=True)]
            beside = below(float(np.mean(whole)), float(np.mean(other)))
            row.append(f"{np.mean(other):,.0f} ({beside}; {min(ratios) * 100:+.1f} to {max(ratios) * 100:+.1f})")
        lines.append("| " + " | ".join(row) + " |")
    lines.append("| the paper | | | | " + " | ".join(PAPER.values()) + " |")
    return "\n".join(lines) + "\n"


def run(quick: bool) -> str:
    """Quick: one application on few containers, one seed."""
    containers, seeds, shapes = (96, SEEDS[:1], ["hotel"]) if quick else (512, SEEDS, list(SHAPES))
    head = (
        "95th percentiles, ms, means over seeds. In brackets the whole method beside the variant: mean; range of seeds."
    )
    return "\n".join([head, "", report(modules(containers, seeds, shapes)), parameters(containers, seeds, shapes)])
