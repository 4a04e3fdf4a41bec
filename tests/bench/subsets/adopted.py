"""An hour of a closed loop in which a part of the callers follow their subsets, and the others call all containers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench.subsets.loop_runs import FRONTS, LoopRun, application, even, looped, steady
from testbed.mesh.application import Application
from testbed.mesh.solution import Solution

PARTS = (0.25, 0.5, 0.75)
"""Of the callers."""
SHARE = 0.15
"""Of a host's CPU that is `cart`'s own load."""


@dataclass(frozen=True)
class AdoptedCell:
    """One run beside even weights. Ratios of p95, ours to even. judged_s: when each caller had its right verdict, and
    kept it to the end; None: never. wrong: windows with a wrong verdict (UNKNOWN is none). fullest: as of `LoopRun`."""

    part: float
    seed: int
    even_ms: float
    mean: float
    worst_five: float
    worst_minute: float
    judged_s: float | None
    wrong: int
    fullest: float
    reverts: int


def followers(part: float) -> list[str]:
    """The first ones."""
    return [f"front-{at}" for at in range(round(part * FRONTS))]


def partly(app: Application, those: Sequence[str], plan: Solution) -> Solution:
    """`those` follow the plan, the others call everybody alike."""
    planned, alike = plan.pairs[0].connections, even(app).pairs[0].connections
    connections = [one for one in planned if one.from_ in those] + [one for one in alike if one.from_ not in those]
    return plan.model_copy(update={"pairs": [plan.pairs[0].model_copy(update={"connections": connections})]})


def verdicts(run: LoopRun, those: Sequence[str], window_s: float) -> tuple[float | None, int]:
    """As of `AdoptedCell`: judged_s and wrong."""
    others = {f"front-{at}" for at in range(FRONTS)} - set(those)
    right, wrong = [], 0
    for adoption in run.adoption:
        found = set(adoption.not_following_instances)
        right.append(found == others and adoption.following == len(those))
        # Of callers that follow, only the number is known.
        wrong += bool(found - others) or adoption.following > len(those)
    lasting = next((at for at in range(len(right)) if all(right[at:])), None)
    return None if lasting is None else (lasting + 1) * window_s, wrong


def cell(part: float, seed: int, minutes: int) -> AdoptedCell:
    app, those = application(SHARE, seed), followers(part)
    even_ms = steady(app, seed, minutes)
    run = looped(app, seed, minutes, followed=partial(partly, app, those))
    fives = np.convolve(run.p95_ms, np.ones(5), "valid") / np.convolve(even_ms, np.ones(5), "valid")
    judged_s, wrong = verdicts(run, those, minutes * 60 / len(run.adoption))
    return AdoptedCell(
        part,
        seed,
        float(even_ms.mean()),
        float(run.p95_ms.mean() / even_ms.mean()),
        float(fives.max()),
        float((run.p95_ms / even_ms).max()),
        judged_s,
        wrong,
        run.fullest,
        sum(cause.startswith("REVERT") for cause in run.causes),
    )


def table(cells: Sequence[AdoptedCell]) -> str:
    lines = [
        "| callers that follow | seed | even p95, ms | mean | worst 5 min | worst minute | all judged after, s "
        "| windows with a wrong verdict | fullest container | REVERT |",
        "|---|" + "---|" * 9,
    ]
    lines += [
        f"| {one.part:.0%} | {one.seed} | {one.even_ms:.2f} | {one.mean - 1:+.1%} | {one.worst_five - 1:+.1%} "
        f"| {one.worst_minute - 1:+.1%} | {'never' if one.judged_s is None else f'{one.judged_s:.0f}'} "
        f"| {one.wrong} | {one.fullest:.0%} | {one.reverts} |"
        for one in cells
    ]
    return "\n".join(lines) + "\n"


def run(quick: bool) -> str:
    """Quick: half of the callers, one seed, 10 minutes."""
    if quick:
        return table([cell(0.5, 1, 10)])
    return table([cell(part, seed, 60) for part in PARTS for seed in (1, 2, 3)])
