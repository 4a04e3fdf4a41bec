"""Random services and loads (`bench/generate.py`), the held-out seeds: regret against the best size in hindsight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.best_fixed import best_fixed, held
from bench.controllers.racers import HARDWARE, REPORTS, SLUICE
from bench.decision.lineup import LATE, PUBLISHED, VARIANTS, of_asked
from bench.decision.premises import oracle
from bench.decision.summary import markdown
from bench.generate import HELD_OUT, scenario
from bench.race import PROCESSES, Task, mapped, run
from bench.racing import race

SEED, CHOOSING = 1, (11,)
RACERS = of_asked([SLUICE, REPORTS, *VARIANTS, HARDWARE, *PUBLISHED, *LATE])
WORSE = 0.02
FROM_S = 10.0
IDEAL = f"the best held size from second {FROM_S:.0f} on"
"""What a decision could reach that knew the best size after some seconds of data: where the first size collapses, what
the pool then holds has yet to end."""


@dataclass(frozen=True)
class Regrets:
    """Of one service: the part of the best held size's goodput that each racer loses; below 0 it gains."""

    law: str
    of: dict[str, float]


def regrets(seed: int) -> Regrets:
    drawn = scenario(seed)
    size = best_fixed(drawn, CHOOSING).size
    best = held(drawn, size, SEED).goodput_per_s
    lost = {racer: 1.0 - run(Task(drawn, racer, SEED)).goodput_per_s / best for racer in RACERS}
    ideal = oracle((0.0, FROM_S, drawn.seconds), (drawn.service.threads, size))
    lost[IDEAL] = 1.0 - race(drawn, IDEAL, ideal, SEED).goodput_per_s / best
    return Regrets(drawn.law.kind, lost)


def all_regrets(seeds: Sequence[int] = HELD_OUT, processes: int = PROCESSES) -> list[Regrets]:
    return mapped(regrets, seeds, processes)


def report(regrets: Sequence[Regrets]) -> str:
    losing = sum(result.of[HARDWARE] >= 0.05 for result in regrets)
    text = f"{len(regrets)} services; holding the first size loses 5 % or more in {losing} (bar: 150 of 200).\n\n"
    head = ["racer", "median regret", "95th percentile", "worst", "worse than holding by over 2 %"]
    text += markdown(head, [_row(racer, racer, regrets) for racer in (*RACERS, IDEAL)])
    laws = sorted({result.law for result in regrets})
    racers = [racer for racer in (SLUICE, REPORTS) if racer in RACERS]
    rows = [
        _row(f"{racer}, {law}", racer, [result for result in regrets if result.law == law])
        for racer in racers
        for law in laws
    ]
    return f"{text}\n{markdown(head, rows)}\nBars: median <= 1 %, 95th percentile <= 5 %, none worse than holding.\n"


def _row(name: str, racer: str, regrets: Sequence[Regrets]) -> list[str]:
    lost = np.array([result.of[racer] for result in regrets])
    worse = sum(result.of[racer] > result.of[HARDWARE] + WORSE for result in regrets)
    return [name, f"{np.median(lost):.1%}", f"{np.quantile(lost, 0.95):.1%}", f"{lost.max():.1%}", f"{worse}"]
