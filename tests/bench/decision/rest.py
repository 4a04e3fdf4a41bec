"""Under a steady load: how often the size changes in the last 10 minutes of 15, and what a trial costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.best_fixed import best_fixed
from bench.controllers.racers import RACERS, REPORTS, SLUICE
from bench.controllers.rivals import RIVALS
from bench.decision.lineup import SEEDS, VARIANTS, of_asked
from bench.decision.starts import good_per_s
from bench.decision.summary import markdown
from bench.race import PROCESSES, mapped
from bench.racing import HELD, drive, starting_at
from bench.scenarios import scenario
from testbed.tiers.run import Floats

NAMES = ("rest_light", "rest_busy")
STARTS = (5, 20, 60, 128)
SINCE_S, TRIAL_S = 300.0, 10.0
WHO = of_asked([SLUICE, REPORTS, *VARIANTS, *RIVALS])


@dataclass(frozen=True)
class Rest:
    racer: str
    changes: int
    cost: float
    """Of the goodput in the 10 s after the change that cost most, against the best held size in the same seconds."""
    size: int
    """At the end."""


@dataclass(frozen=True)
class Try:
    name: str
    start: int
    racer: str
    seed: int
    best: int
    """Size to hold."""


def rest(one: Try) -> Rest:
    steady, racer = scenario(one.name), one.racer
    run = drive(starting_at(steady, one.start), RACERS[racer], one.seed)
    best = good_per_s(drive(starting_at(steady, one.best), HELD, one.seed))
    changed = [at for at, _ in run.history if at >= SINCE_S]
    return Rest(racer, len(changed), dearest(good_per_s(run), best, changed), run.size)


def dearest(ours: Floats, best: Floats, changed: Sequence[float]) -> float:
    """Worked: 100 a second at best, ours 90 in one of the 10 s after a change: 1 %."""
    cost = [0.0]
    for at in changed:
        seconds = slice(int(at), int(at + TRIAL_S))
        if best[seconds].sum():
            cost.append(1.0 - float(ours[seconds].sum() / best[seconds].sum()))
    return max(cost)


def all_rests(
    seeds: Sequence[int] = SEEDS, starts: Sequence[int] = STARTS, processes: int = PROCESSES
) -> dict[tuple[str, int], list[Rest]]:
    """By scenario and start."""
    best = {name: best_fixed(scenario(name), (11,)).size for name in NAMES}
    tries = [
        Try(name, start, racer, seed, best[name])
        for name in NAMES
        for start in starts
        for racer in WHO
        for seed in seeds
    ]
    results: dict[tuple[str, int], list[Rest]] = {}
    for one, item in zip(tries, mapped(rest, tries, processes), strict=True):
        results.setdefault((one.name, one.start), []).append(item)
    return results


def report(by_case: dict[tuple[str, int], list[Rest]]) -> str:
    rows = []
    for (name, start), rests in by_case.items():
        for racer in WHO:
            mine = [rest for rest in rests if rest.racer == racer]
            rows.append(
                [
                    name,
                    f"{start}",
                    racer,
                    f"{np.mean([item.changes for item in mine]):.3g} ({max(item.changes for item in mine)})",
                    f"{max(item.cost for item in mine):.1%}",
                    ", ".join(str(size) for size in sorted({item.size for item in mine})),
                ]
            )
    head = ["load", "from", "racer", "changes in 10 min (most)", "dearest change", "size at the end"]
    return f"Bars: at most one change in 10 min, none that costs over 1 %.\n\n{markdown(head, rows)}"
