"""What it says, over random services: how often that the best size is known (PROVIDED), and how often it is wrong where
it claims that the size in force loses less than 1 %.

The truth is worked out (`testbed/single/capacity.py`): what a full pool of each size completes on the cores of that
second, after the events up to then. A size loses what it completes less than the best one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.controllers.in_loop import Course, InLoop
from bench.controllers.racers import RACERS, SLUICE
from bench.decision.summary import markdown
from bench.generate import HELD_OUT, scenario
from bench.race import PROCESSES, mapped
from bench.racing import BOUNDS, drive
from testbed.fine import PoolWindows
from testbed.single.capacity import throughput
from testbed.single.names import POOL
from testbed.single.run import FastRun
from testbed.single.scenario import Scenario
from testbed.tiers.run import Floats

SEED = 1
FULL, FULL_S = 0.95, 60.0
"""In flight, as a part of the size, in a bucket in which the pool is full; and how long it was full in all."""
CLAIM, WRONG = 0.01, 0.03
PROVIDED_BAR, WRONG_BAR = 0.6, 0.05


@dataclass(frozen=True)
class ServiceClaims:
    """Periods of one service: all after the pool was full for 60 s, and of these those that said PROVIDED; all that
    claimed a loss under 1 %, and of these those in which the size in force loses more than 3 %."""

    law: str
    periods: int
    provided: int
    claimed: int
    wrong: int


class _Recorder:
    """Counts how long the pool was full by each period."""

    def __init__(self, loop: InLoop) -> None:
        self.loop = loop
        self.full_s: list[float] = []

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        newest = windows[POOL]
        full = newest.own.busy_ns >= FULL * newest.sizes * newest.length_ns
        before = self.full_s[-1] if self.full_s else 0.0
        self.full_s.append(before + float(full.sum()) * newest.length_ns / 1e9)
        return self.loop.decide(now_s, windows)


def claims_of(seed: int) -> ServiceClaims:
    drawn, answers = scenario(seed), list[_Recorder]()
    racer = RACERS[SLUICE]

    def build(run: FastRun) -> _Recorder:
        loop = racer.build(run)
        assert isinstance(loop, InLoop)
        answers.append(_Recorder(loop))
        return answers[0]

    run = drive(drawn, replace(racer, build=build), SEED)
    return counted(drawn.law.kind, answers[0].loop.course(POOL), answers[0].full_s, truth(drawn, run.scaled))


def counted(
    law: str, course: Sequence[Course], full_s: Sequence[float], loss: Callable[[float, int], float]
) -> ServiceClaims:
    """full_s: by the period. loss: of a size at a second."""
    after = [item for item, full in zip(course, full_s, strict=True) if full >= FULL_S]
    claims = [item for item in course if item.loss is not None and item.loss < CLAIM and item.current is not None]
    wrong = sum(loss(claim.at_s, claim.current) > WRONG for claim in claims if claim.current is not None)
    return ServiceClaims(law, len(after), sum(item.state == "PROVIDED" for item in after), len(claims), wrong)


def truth(drawn: Scenario, scaled: Sequence[tuple[float, float]]) -> Callable[[float, int], float]:
    """The part of the best size's throughput that a size loses at a second. scaled: (second, cores from then on)."""
    curves: dict[tuple[float, float, float], Floats] = {}

    def loss(second: float, size: int) -> float:
        cores = [drawn.service.cores, *(cores for at, cores in scaled if at <= second)][-1]
        compute, wait = 1.0, 1.0
        for event in drawn.events:
            if event.at_s <= second:
                compute, wait = event.compute or compute, event.wait or wait
        now = cores, compute, wait
        if now not in curves:
            service = drawn.service
            times = {"compute_ms": service.compute_ms * compute, "wait_ms": service.wait_ms * wait}
            then = drawn.model_copy(update={"service": service.model_copy(update=times)})
            curves[now] = throughput(then, BOUNDS[1], cores)
        return float(1.0 - curves[now][size - 1] / curves[now].max())

    return loss


def all_claims(seeds: Sequence[int] = HELD_OUT, processes: int = PROCESSES) -> list[ServiceClaims]:
    return mapped(claims_of, seeds, processes)


def report(claims: Sequence[ServiceClaims]) -> str:
    laws = sorted({result.law for result in claims})
    rows = [_row("all", claims), *(_row(law, [result for result in claims if result.law == law]) for law in laws)]
    head = ["law", "services", "PROVIDED after the pool was full for 60 s"]
    head += ["claims of a loss under 1 %, where it is over 3 %"]
    return f"Bars: >= {PROVIDED_BAR:.0%}, <= {WRONG_BAR:.0%}, of all periods.\n\n{markdown(head, rows)}"


def _row(name: str, claims: Sequence[ServiceClaims]) -> list[str]:
    periods, provided, claimed, wrong = np.array(
        [(result.periods, result.provided, result.claimed, result.wrong) for result in claims]
    ).sum(axis=0)
    return [name, f"{len(claims)}", _share(provided, periods), _share(wrong, claimed)]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} of {whole:,}" if whole else "-"
