"""What each module of Microns is worth (7.2.3, figure 12), by what the solver is told, whatever is inside it.

``connect``: no quota adjuster: quotas stay in proportion to the upstream containers. ``quota``: no connection manager:
connections balance workload, as all hosts are said to be alike. ``graph``: no graph merge: parallel calls are said to
come one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.subsets.cells import SEEDS, Cell, cell, samples
from bench.subsets.static import below
from bench.subsets.strategies import MICRONS, strategy
from testbed.mesh.dynamic import Strategy
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import HIGH, LOW, Deployment
from testbed.mesh.solution import Solution

STILL = 1e-9
"""A learning rate with which no quota moves."""
PAPER = {"quota": "54.6 % below (65.5 % at high)", "connect": "39.2 % below", "graph": "17.8 % below (media)"}


def without(what: str, samples_: str) -> Strategy:
    if what == "connect":
        return strategy(MICRONS, samples_, learning_rate=STILL)
    whole = strategy(MICRONS, samples_)
    change = {"quota": alike, "graph": serial}[what]

    def solve(application: dict[str, Any], before: Solution | None) -> Solution:
        return whole(change(application), before)

    return solve


def alike(application: dict[str, Any]) -> dict[str, Any]:
    """Every host has the mean utilizations."""
    figures = ("cpu", "memory_bandwidth", "network")
    mean = {figure: float(np.mean([host[figure] for host in application["hosts"]])) for figure in figures}
    return application | {"hosts": [host | mean for host in application["hosts"]]}


def serial(application: dict[str, Any]) -> dict[str, Any]:
    """Every call is a stage of its own."""

    def one(call: dict[str, Any]) -> dict[str, Any]:
        return call | {"stages": [[one(below)] for stage in call.get("stages", []) for below in stage]}

    return application | {"roots": [root | {"tree": one(root["tree"])} for root in application["roots"]]}


Found = dict[tuple[str, str], dict[str, Cell]]


def cells(containers: int = 512, seeds: tuple[int, ...] = SEEDS[:1], shapes: Sequence[str] = tuple(SHAPES)) -> Found:
    found: Found = {}
    for shape in shapes:
        learnt = samples(shape, containers)
        for level, difference in (("low", LOW), ("high", HIGH)):
            how = Deployment(containers, difference)
            strategies = {MICRONS: strategy(MICRONS, learnt)} | {what: without(what, learnt) for what in PAPER}
            found[shape, level] = {
                name: cell(shape, how, solve, "round_robin", seeds) for name, solve in strategies.items()
            }
    return found


def report(found: Found) -> str:
    lines = ["| application | imbalance | " + " | ".join((MICRONS, *PAPER)) + " |", "|---" * (3 + len(PAPER)) + "|"]
    for (shape, level), by_name in found.items():
        row = [f"{by_name[MICRONS].p95:,.0f}"]
        row += [f"{by_name[what].p95:,.0f} ({below(by_name[MICRONS].p95, by_name[what].p95)})" for what in PAPER]
        lines.append(f"| {shape} | {level} | " + " | ".join(row) + " |")
    lines.append("| the paper | | | " + " | ".join(PAPER.values()) + " |")
    return "95th percentiles, ms; in brackets Microns beside it.\n\n" + "\n".join(lines) + "\n"
