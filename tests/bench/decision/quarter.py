"""A pool at a quarter of its best size when the load steps up: what completes from the eighth second on.

The random services of `starts`, with a quarter of the best size that their law has, and that is 8 or more. Users are as
many as the best size just serves, so who waited in the first seconds is still late long after the size is right:
completions show the size, goodput the queue too. Beside Sluice stands the best size, set 4 s after the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.controllers.racers import RACERS, REPORTS, SLUICE
from bench.decision.lineup import LATE, of_asked
from bench.decision.premises import oracle
from bench.decision.starts import NEAR, SEEDS, good_per_s
from bench.decision.summary import markdown
from bench.generate import MOST, step
from bench.race import PROCESSES, mapped
from bench.racing import HELD, Racer, drive, starting_at
from testbed.single.capacity import throughput
from testbed.single.run import FastRun

STEP_S, SECONDS = 40.0, 60.0
FROM_S, TO_S = 8, 14
PART, LEAST = 4, 8
KNOWS_S = 4.0
IDEAL = f"the best size, {KNOWS_S:.0f} s after the step"
WHO = of_asked([SLUICE, REPORTS, *LATE])


@dataclass(frozen=True)
class Step:
    """Of one service, by racer: what completes, and what is good, from `FROM_S` to `TO_S` after the step, as a part of
    the best size's."""

    done: dict[str, float]
    good: dict[str, float]


def stepped(seed: int) -> Step | None:
    """None where a quarter of the best size is under 2."""
    drawn = step(seed, STEP_S, SECONDS)
    best = int(throughput(drawn, MOST, float(drawn.service.cores)).argmax()) + 1
    if best < LEAST:
        return None
    small = starting_at(drawn, best // PART)
    whole = drive(starting_at(drawn, best), HELD, 1)
    racers = {name: RACERS[name] for name in WHO} | {IDEAL: ideal(best)}
    runs = {name: drive(small, racer, 1) for name, racer in racers.items()}
    return Step(
        {name: part(done(run), done(whole)) for name, run in runs.items()},
        {name: part(good(run), good(whole)) for name, run in runs.items()},
    )


def ideal(best: int) -> Racer:
    return oracle((0.0, STEP_S + KNOWS_S, SECONDS), (best // PART, best))


def done(run: FastRun) -> float:
    at_s, _ = run.outcomes()
    return float(((at_s >= STEP_S + FROM_S) & (at_s < STEP_S + TO_S)).sum())


def good(run: FastRun) -> float:
    begin = int(STEP_S)
    return float(good_per_s(run)[begin + FROM_S : begin + TO_S].sum())


def part(ours: float, best: float) -> float:
    """1 where the best size has nothing either."""
    return ours / best if best else 1.0


def all_steps(seeds: Sequence[int] = SEEDS, processes: int = PROCESSES) -> list[Step]:
    return [item for item in mapped(stepped, seeds, processes) if item is not None]


def report(steps: Sequence[Step]) -> str:
    rows = []
    for name in (*WHO, IDEAL):
        row = [name]
        for parts in ([item.done[name] for item in steps], [item.good[name] for item in steps]):
            near = int((np.array(parts) >= NEAR).sum())
            row += [f"{np.median(parts):.3f}", f"{near} of {len(parts)}"]
        rows.append(row)
    head = ["racer", "completions: median", f"{NEAR} or more", "goodput: median", f"{NEAR} or more"]
    return (
        f"{len(steps)} services, {FROM_S} to {TO_S} s after the step, by the best size's from the beginning on. Bar: "
        f"{NEAR} of the goodput in all.\n\n{markdown(head, rows)}"
    )
