"""What happens to a service: its dependency, its requests, its data, its CPU, its version, its SLO; and overload.

Ours is held against the rivals of use: those that come within 5 % of the best rival's goodput over the six workloads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bench.controllers.racers import SIZES, SLUICE
from bench.decision.lineup import EVERYONE, LATE, WITHOUT
from bench.decision.summary import Summary, best_p99, markdown, summary
from bench.decision.workloads import Cell
from bench.race import Task, run_all
from bench.scenarios import scenario

CHANGES = (
    "slow_dependency",
    "light_then_heavy",
    "twice_the_data",
    "cpu_doubled",
    "cpu_halved",
    "slower_release",
    "slo_changes",
)
OVERLOADS = ("constant_timeouts", "steady_overload")
OF_USE = 0.95
P99_BAR, GOODPUT_BAR = 1.1, 0.99


def of_use(cells: Sequence[Cell]) -> list[str]:
    goodput = {name: float(np.mean([cell.of[name].goodput_per_s for cell in cells])) for name in LATE}
    return [name for name in LATE if goodput[name] >= OF_USE * max(goodput.values())]


def results(names: Sequence[str], seeds: Sequence[int]) -> dict[str, dict[str, Summary]]:
    """By case and racer, the fixed sizes among them: here for what there is to win, not to be judged by."""
    racers = [*EVERYONE, *(f"fixed {size}" for size in SIZES)]
    tasks = [Task(scenario(name), racer, seed) for name in names for racer in racers for seed in seeds]
    result = iter(run_all(tasks))
    return {name: {racer: summary([next(result) for _ in seeds]) for racer in racers} for name in names}


def report(of: Mapping[str, Mapping[str, Summary]], useful: Sequence[str]) -> str:
    head = ["case", "sluice: p99 ms, goodput/s", "least p99 of those rivals", "most goodput of them"]
    head += ["p99 ratio", "goodput ratio", "met", "best fixed size"]
    rows = []
    for name, racers in of.items():
        ours, rivals = racers[SLUICE], {rival: racers[rival] for rival in useful}
        quick = best_p99(rivals)
        most = max(rivals, key=lambda rival: rivals[rival].goodput_per_s)
        p99 = ours.p99_ms / rivals[quick].p99_ms
        goodput = ours.goodput_per_s / rivals[most].goodput_per_s
        met = goodput >= GOODPUT_BAR if name in OVERLOADS else goodput >= 1.0 and p99 <= P99_BAR
        held = best_p99({racer: item for racer, item in racers.items() if racer.startswith("fixed ")})
        rows.append(
            [
                name,
                f"{ours.p99_ms:,.0f}, {ours.goodput_per_s:,.0f}",
                f"{quick}: {rivals[quick].p99_ms:,.0f}",
                f"{most}: {rivals[most].goodput_per_s:,.0f}",
                f"{p99:.2f}",
                f"{goodput:.3f}",
                "yes" if met else "no",
                f"{held}: {racers[held].p99_ms:,.0f} ms, {racers[held].goodput_per_s:,.0f}/s",
            ]
        )
    return f"Rivals of use: {', '.join(useful)}.\n\n{markdown(head, rows)}\n{worth(of)}"


def worth(of: Mapping[str, Mapping[str, Summary]]) -> str:
    """The same loop with another model, and holding."""
    names = [SLUICE, *WITHOUT]
    rows = [
        [name, *(f"{racers[name].p99_ms:,.0f} ms, {racers[name].goodput_per_s:,.0f}/s" for name in names)]
        for name, racers in of.items()
    ]
    return markdown(["case", *names], rows)
