"""Two wrong pools on one path, while the callers go from one replica to three and back (ConScale V).

128 threads and 64 connections a replica, where some 16 and 8 are best: too many threads slow the caller's CPU, and
three times 64 connections the callee's. Both pools are sized by the same racer. The best pair is found by a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from bench.best_fixed import CHOSEN_ON
from bench.controllers.racers import HARDWARE
from bench.decision.lineup import SEEDS
from bench.decision.path import RACERS, Seen, drive
from bench.decision.summary import markdown
from bench.race import PROCESSES, mapped
from testbed.path.scenario import PathScenario

GRID_THREADS = (6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128)
GRID_CONNECTIONS = (3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 32, 64)
BAR = 0.97

TWO_WRONG_POOLS = PathScenario.model_validate(
    {
        "name": "two_wrong_pools",
        "seconds": 480,
        "slo_ms": 250,
        "users": 3900,
        "think_s": 1.65,
        "load": [
            *([0, 0.25], [60, 0.3], [100, 0.45], [140, 0.55], [155, 0.8], [200, 1.0]),
            *([280, 0.95], [320, 0.6], [350, 0.25], [420, 0.45], [480, 0.3]),
        ],
        "caller": {
            "cores": 2,
            "compute_ms": 1.5,
            "contention": 0.005,
            "crosstalk": 0.0003,
            "threads": 128,
            "connections": 64,
        },
        "callee": {"cores": 4, "compute_ms": 1.6, "wait_ms": 4, "contention": 0.005, "crosstalk": 0.0003},
        "events": [{"at_s": 150, "replicas": 3}, {"at_s": 380, "replicas": 1}],
    }
)


def of_size(scenario: PathScenario, threads: int, connections: int) -> PathScenario:
    caller = scenario.caller.model_copy(update={"threads": threads, "connections": connections})
    return scenario.model_copy(update={"caller": caller})


@dataclass(frozen=True)
class Try:
    racer: str
    seed: int
    pair: tuple[int, int] | None = None
    """Threads and connections to start with, instead of the scenario's."""


def run(one: Try) -> Seen:
    return drive(of_size(TWO_WRONG_POOLS, *one.pair) if one.pair else TWO_WRONG_POOLS, RACERS[one.racer], one.seed)


def best_pair(seeds: Sequence[int] = CHOSEN_ON, processes: int = PROCESSES) -> tuple[int, int]:
    """That with the most goodput of the grid; more connections than threads are never used."""
    pairs = [pair for pair in product(GRID_THREADS, GRID_CONNECTIONS) if pair[1] <= pair[0]]
    tries = [Try(HARDWARE, seed, pair) for pair in pairs for seed in seeds]
    goodput = dict.fromkeys(pairs, 0.0)
    for one, item in zip(tries, mapped(run, tries, processes), strict=True):
        assert one.pair is not None
        goodput[one.pair] += item.goodput_per_s
    return max(pairs, key=lambda pair: goodput[pair])


def report(pair: tuple[int, int], seeds: Sequence[int] = SEEDS, processes: int = PROCESSES) -> str:
    names = {racer: (racer, None) for racer in RACERS} | {f"best pair, {pair[0]} and {pair[1]}": (HARDWARE, pair)}
    tries = [Try(racer, seed, start) for racer, start in names.values() for seed in seeds]
    result = iter(mapped(run, tries, processes))
    results = {name: [next(result) for _ in seeds] for name in names}
    best = float(np.mean([item.goodput_per_s for item in results[list(names)[-1]]]))
    table = []
    for name, mine in results.items():
        goodput = float(np.mean([item.goodput_per_s for item in mine]))
        least = min(item.goodput_per_s for item in mine)
        ends = ", ".join(f"{threads} and {connections}" for threads, connections in sorted({s.sizes for s in mine}))
        table.append(
            [
                name,
                f"{np.mean([item.p99_ms for item in mine]):,.0f}",
                f"{goodput:,.0f} ({least:,.0f})",
                f"{goodput / best:.3f}",
                f"{np.mean([item.changes for item in mine]):.3g}",
                ends,
            ]
        )
    head = [
        "racer",
        "p99 ms",
        "goodput/s (worst)",
        "of the best pair's",
        "changes",
        "threads and connections at the end",
    ]
    return f"Bar: {BAR} of the best pair's goodput.\n\n{markdown(head, table)}"
