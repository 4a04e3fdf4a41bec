"""A bad start: how long after the load needs another size the goodput is near the best size's.

Random services (`bench/generate.py`, seeds of their own), lightly loaded for 30 s and then as heavily as their best
size can serve. Counted are those where the first size loses a tenth or more from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.best_fixed import best_fixed
from bench.controllers.racers import HARDWARE, RACERS, REPORTS, SLUICE
from bench.controllers.rivals import RIVALS
from bench.decision.lineup import VARIANTS, of_asked
from bench.decision.summary import markdown
from bench.generate import step
from bench.race import PROCESSES, mapped
from bench.racing import HELD, drive, slos_ms, starting_at
from testbed.single.run import FastRun
from testbed.tiers.run import Floats

SEEDS = range(3000, 3060)
NEEDS_S, SECONDS = 31.0, 180.0
NEAR, OVER_S = 0.9, 10
NEVER = SECONDS - NEEDS_S
WHO = of_asked([SLUICE, REPORTS, *VARIANTS, HARDWARE, *RIVALS])


@dataclass(frozen=True)
class Recovery:
    """Of one service: seconds by racer."""

    of: dict[str, float]


def recovery(seed: int) -> Recovery | None:
    """None where the first size is good enough."""
    drawn = step(seed, NEEDS_S, SECONDS)
    best = good_per_s(drive(starting_at(drawn, best_fixed(drawn, (11,)).size), HELD, 1))
    after = int(NEEDS_S)
    if good_per_s(drive(drawn, HELD, 1))[after:].sum() > NEAR * best[after:].sum():
        return None
    return Recovery(
        {name: recovered_s(good_per_s(drive(drawn, RACERS[name], 1))[after:], best[after:]) for name in WHO}
    )


def good_per_s(run: FastRun) -> Floats:
    """Good responses in each second, shape (seconds,)."""
    at_s, latency_s = run.outcomes()
    good = at_s[latency_s * 1e3 <= slos_ms(run.scenario, at_s)]
    return np.histogram(good, bins=np.arange(0.0, run.scenario.seconds + 1.0))[0].astype(float)


def recovered_s(ours: Floats, best: Floats) -> float:
    """The first second from which the next 10 s have 0.9 of the best's goodput; all there are where none has.

    Worked: best 100 every second, ours 0 for 5 s and then 100: from second 4 on, with 9 of 10 s at 100.
    """
    for second in range(len(ours) - OVER_S + 1):
        if ours[second : second + OVER_S].sum() >= NEAR * best[second : second + OVER_S].sum():
            return float(second)
    return float(len(ours))


def all_recoveries(seeds: Sequence[int] = SEEDS, processes: int = PROCESSES) -> list[Recovery]:
    return [item for item in mapped(recovery, seeds, processes) if item is not None]


def report(recoveries: Sequence[Recovery]) -> str:
    rows = []
    for name in WHO:
        seconds = np.array([result.of[name] for result in recoveries])
        never = int((seconds >= NEVER).sum())
        rows.append([name, f"{np.median(seconds):.0f}", f"{np.quantile(seconds, 0.95):.0f}", f"{never}"])
    head = ["racer", "median, s", "95th percentile, s", "never"]
    return f"{len(recoveries)} services. Bars: 15 s and 45 s.\n\n{markdown(head, rows)}"
