"""Web, application and database tiers of which the second scales out (ConScale V, figure 10).

From the paper: the tiers 1/1/1 with 1000-60-40 threads of the web server, threads and connections of an application
server; 7,500 users under the large variation (re-drawn), 12 minutes; a server of one core more above 80 % CPU, 15 s
after that. RUBBoS's users think for 7 s. Ours: times, overheads (those of the preset cart), 300 ms. The application
tier is full at 714 requests a second, the database at 1,250, and the peak asks for 1,070: two servers suffice, and
together they have 80 connections, of which the database can use under ten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from bench.best_fixed import CHOSEN_ON
from bench.controllers.racers import HARDWARE, SLUICE
from bench.decision import path
from bench.decision.lineup import SEEDS
from bench.decision.path import PathRacer, Seen, drive
from bench.decision.premises import COUNTS
from bench.decision.premises_race import interval
from bench.decision.summary import markdown
from bench.decision.two_pools import of_size
from bench.race import PROCESSES, mapped
from testbed.bursty import LARGE_VARIATION, LENGTH
from testbed.fine import PoolWindows
from testbed.path.memory import CONNECTIONS, THREADS
from testbed.path.run import PathRun
from testbed.path.scenario import PathScenario

Pair = tuple[int, int]
"""Threads and connections of an application server."""
GRID_THREADS = (4, 6, 8, 10, 12, 16, 24, 40, 60)
GRID_CONNECTIONS = (2, 3, 4, 5, 6, 8, 10, 14, 20, 40)
OVERHEADS = {"contention": 0.005, "crosstalk": 0.0003}
THREE_TIERS = PathScenario.model_validate(
    {
        "name": "three_tiers",
        "seconds": LENGTH,
        "slo_ms": 300,
        "users": 7500,
        "think_s": 7.0,
        "load": [[float(second), share] for second, share in LARGE_VARIATION.points],
        "front": {"cores": 1, "compute_ms": 0.3, "threads": 1000},
        "caller": {"cores": 1, "compute_ms": 1.4, "threads": 60, "connections": 40, **OVERHEADS},
        "callee": {"cores": 1, "compute_ms": 0.8, "wait_ms": 3.0, **OVERHEADS},
        "scaler": {"highest": 4, "every_s": 5, "ready_s": 15},
    }
)
RACERS: dict[str, PathRacer] = {
    name: (path.RACERS | path.PUBLISHED)[name]
    for name in (
        SLUICE,
        "scg with our gates",
        "sct with our gates",
        "scg as published",
        "sct as published",
        "vegas",
        "gradient2",
        HARDWARE,
    )
}


@dataclass(frozen=True)
class Try:
    """racer: None: the oracle, whose pairs by number of servers are given. pair: to start with, not the scenario's."""

    racer: str | None
    seed: int
    pair: Pair | None = None
    pairs: Mapping[int, Pair] = field(default_factory=dict)


def run(one: Try) -> Seen:
    scenario = of_size(THREE_TIERS, *one.pair) if one.pair else THREE_TIERS
    return drive(scenario, oracle(one.pairs) if one.racer is None else RACERS[one.racer], one.seed)


def oracle(pairs: Mapping[int, Pair]) -> PathRacer:
    """Has the pair of each number of servers in the second in which it changes; others keep what is in force."""
    return PathRacer(lambda run: _Oracle(run, pairs), 1.0)


class _Oracle:
    def __init__(self, run: PathRun, pairs: Mapping[int, Pair]) -> None:
        self._run, self._pairs = run, pairs

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        pair = self._pairs.get(self._run.replicas)
        return dict(zip((THREADS, CONNECTIONS), pair, strict=True)) if pair else {}


def grid() -> list[Pair]:
    """More connections than threads are never used."""
    return [pair for pair in product(GRID_THREADS, GRID_CONNECTIONS) if pair[1] <= pair[0]]


def most(tries: Mapping[Pair, Sequence[Try]], processes: int) -> Pair:
    """The pair whose runs have the most goodput; of equal ones the first."""
    flat = [one for of_pair in tries.values() for one in of_pair]
    goodput = iter([seen.goodput_per_s for seen in mapped(run, flat, processes)])
    total = {pair: sum(next(goodput) for _ in of_pair) for pair, of_pair in tries.items()}
    return max(total, key=lambda pair: total[pair])


def best_pair(seeds: Sequence[int] = CHOSEN_ON, processes: int = PROCESSES) -> Pair:
    """To hold."""
    return most({pair: [Try(HARDWARE, seed, pair) for seed in seeds] for pair in grid()}, processes)


def best_pairs(
    held: Pair, counts: Sequence[int] = (1, 2), seeds: Sequence[int] = CHOSEN_ON, processes: int = PROCESSES
) -> dict[int, Pair]:
    """One for each number of servers, one after the other, from the best pair to hold for all."""
    pairs = dict.fromkeys(counts, held)
    for count in counts:
        tries = {
            pair: [Try(None, seed, pair if count == 1 else pairs[1], pairs | {count: pair}) for seed in seeds]
            for pair in grid()
        }
        pairs[count] = most(tries, processes)
    return pairs


def report(held: Pair, pairs: Mapping[int, Pair], seeds: Sequence[int] = SEEDS, processes: int = PROCESSES) -> str:
    tries = {name: [Try(name, seed) for seed in seeds] for name in RACERS}
    tries[f"held, {held[0]} and {held[1]}"] = [Try(HARDWARE, seed, held) for seed in seeds]
    tries["oracle"] = [Try(None, seed, pairs[1], pairs) for seed in seeds]
    result = iter(mapped(run, [one for mine in tries.values() for one in mine], processes))
    results = {name: [next(result) for _ in mine] for name, mine in tries.items()}
    mean = {name: float(np.mean([seen.goodput_per_s for seen in mine])) for name, mine in results.items()}
    ratio = mean[f"held, {held[0]} and {held[1]}"] / mean["oracle"]
    rows = [
        [
            name,
            interval([seen.goodput_per_s for seen in mine]),
            f"{mean[name] / mean['oracle']:.3f}",
            interval([seen.p99_ms for seen in mine]),
            f"{np.mean([seen.changes for seen in mine]):.3g}",
            ", ".join(f"{threads} and {connections}" for threads, connections in sorted({s.sizes for s in mine})),
        ]
        for name, mine in results.items()
    ]
    best = ", ".join(f"{pair[0]} and {pair[1]} with {count}" for count, pair in pairs.items())
    head = ["racer", "goodput/s", "by the oracle's", "p99 ms", "changes", "threads and connections at the end"]
    counts = "counts" if ratio < COUNTS else "does not count"
    return f"Oracle: {best}. The best held pair has {ratio:.3f} of it: the case {counts}.\n\n{markdown(head, rows)}"


def measured(quick: bool) -> str:
    if quick:
        return report((12, 5), {1: (12, 5), 2: (12, 5)}, SEEDS[:2])
    held = best_pair()
    return report(held, best_pairs(held))
