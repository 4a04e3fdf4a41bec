"""Why an agent alone has a longer p99 than the default: its exploration, or what its reward asks for.

LR is 1 wherever the mean response time is within the SLO, so that the reward has nothing against a p99 of the SLO. Told
a part of the SLO, it asks for as much less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bench.controllers.racers import SLUICE
from bench.decision.summary import markdown
from bench.decision.workloads import NAMES
from bench.dqn import session
from bench.dqn.workloads import ALONE, CHANGES, START, alone
from bench.dqn.workloads import run as run_of
from bench.kept import asked_seeds
from bench.racing import Racer, race, starting_at
from bench.scenarios import scenario
from sluice.pools.learn.settings import SETTINGS

STILL = replace(SETTINGS, epsilon=0.0)
VARIANTS: dict[str, tuple[float, bool]] = {
    "without exploration": (1.0, False),
    "told half of the SLO": (0.5, True),
    "told a quarter of the SLO": (0.25, True),
    "told a quarter, without exploration": (0.25, False),
}
SEEDS = (1,)


def racer(name: str, seed: int) -> Racer:
    share, explores = VARIANTS[name]
    return alone(seed, SETTINGS if explores else STILL, share)


def run(task: tuple[str, str, int]) -> dict[str, Any]:
    workload, name, seed = task
    if name not in VARIANTS:
        return run_of(task)
    found = race(starting_at(scenario(workload), START), name, racer(name, seed), seed)
    return {"p95_ms": found.p95_ms, "p99_ms": found.p99_ms, "goodput_per_s": found.goodput_per_s}


def report(names: Sequence[str] = (*NAMES, *CHANGES), given: Sequence[int] = SEEDS, keep: bool = True) -> str:
    seeds = asked_seeds(given) if keep else tuple(given)
    who = (SLUICE, ALONE, *VARIANTS)
    known = session.runs("workloads", [(w, name, s) for s in seeds for w in names for name in who[:2]], run, keep)
    tried = session.runs("alone", [(w, name, s) for s in seeds for w in names for name in VARIANTS], run, keep)
    found = known | tried
    rows = []
    for name in who:
        of = {key: [found[w, name, s][key] for s in seeds for w in names] for key in ("p99_ms", "goodput_per_s")}
        ratio = np.log(np.array(of["p99_ms"]) / [found[w, SLUICE, s]["p99_ms"] for s in seeds for w in names])
        slow = np.mean([each <= 250.0 for each in of["p99_ms"]])
        rows.append(
            [name, f"{np.exp(ratio.mean()):.2f}", f"{np.median(of['p99_ms']):,.0f} ms", f"{slow:.0%}",
             f"{np.mean(of['goodput_per_s']):,.0f}"]
        )  # fmt: skip
    head = ["agent alone", f"p99 / that of {SLUICE} (geometric mean)", "p99 (median)", "p99 within the SLO of 250 ms"]
    head.append("goodput/s (mean)")
    return f"Seeds {', '.join(map(str, seeds))}, {len(names)} workloads and changes.\n\n{markdown(head, rows)}"
