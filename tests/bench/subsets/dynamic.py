"""Half an hour with an autoscaler (Microns 7.2.2, figure 11): Social Network, low imbalance and then high."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.subsets.cells import SEEDS, samples
from bench.subsets.strategies import FULL, MICRONS, strategy
from testbed.mesh.dynamic import Lived, lived
from testbed.mesh.presets import SHAPES

SHAPE = "social-network"
CONTAINERS = 256
NAMES = ("sre", "proportional", FULL, MICRONS)
"""The paper's (its Rocksteadier is described as ``sre`` is), and ours."""


def lives(
    names: Sequence[str] = NAMES, seeds: tuple[int, ...] = SEEDS[:1], routing: str = "round_robin"
) -> dict[str, list[Lived]]:
    learnt = samples(SHAPE, CONTAINERS)
    return {
        name: [lived(SHAPES[SHAPE], strategy(name, learnt), seed, CONTAINERS, routing) for seed in seeds]
        for name in names
    }


def report(found: dict[str, list[Lived]]) -> str:
    """The paper: 21.2 % less resources and 56 % less latency than without it."""
    lines = [
        "| strategy | p50 | p95 | p99 | p95, low | p95, high | containers, mean (most) | cores | connections "
        "| solved | changed a time |",
        "|---" * 11 + "|",
    ]
    for name, each in found.items():
        all_, low, high = (np.mean([one.latency_ms[half] for one in each], axis=0) for half in ("all", "low", "high"))
        mean, most = np.mean([one.containers for one in each]), max(max(one.containers) for one in each)
        cores, connections = np.mean([one.cores for one in each]), np.mean([one.connections for one in each])
        solved = np.mean([one.solved for one in each])
        changed = np.mean([one.changed / max(1, one.solved) for one in each])
        lines.append(
            f"| {name} | {all_[0]:,.0f} | {all_[1]:,.0f} | {all_[2]:,.0f} | {low[1]:,.0f} | {high[1]:,.0f} "
            f"| {mean:.0f} ({most}) | {cores:.2f} | {connections:,.0f} | {solved:.0f} | {changed / connections:.1%} |"
        )
    return "\n".join(lines) + "\n"
