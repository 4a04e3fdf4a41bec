"""One racer on one scenario: asked every period, its answers applied at once, judged by what the users saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite
from typing import Any

import numpy as np

from testbed.controller import Controller
from testbed.fine import PoolWindows
from testbed.single.names import POOL
from testbed.single.run import FastRun
from testbed.single.scenario import Scenario
from testbed.tiers.run import Floats

BOUNDS = (1, 256)
"""Of the pool, for whoever sizes it."""


@dataclass(frozen=True)
class Racer:
    build: Callable[[FastRun], Controller]
    """At second 0; its answers are for the pool ``names.POOL``."""
    period_s: float = inf
    """Infinite: it is never asked."""
    window_s: float = 1.0
    bucket_ms: int = 100
    delay_s: float = 0.0
    """Age of the newest bucket that it is given. In the buckets just before it, requests in flight are missing."""
    threads: int | None = None
    """To start with, instead of the scenario's."""
    clock_s: float = 0.0
    """How much the host's clock is ahead of the racer's: its buckets begin so much later."""

    def on(self, delay_s: float | None, clock_s: float) -> Racer:
        """With data of another age, and another clock; who has fresh data, or looks at none, stays as it is."""
        if not self.delay_s:
            return self
        return replace(self, delay_s=self.delay_s if delay_s is None else delay_s, clock_s=clock_s)


class Holding:
    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        return {}


HELD = Racer(lambda _: Holding())
"""Keeps the first size."""


@dataclass(frozen=True)
class Result:
    """Of all responses after the warm-up; one that failed took forever, and is never good."""

    racer: str
    seed: int
    p95_ms: float
    p99_ms: float
    goodput_per_s: float
    """Responses within the SLO in force when they came."""
    changes: int
    sizes: tuple[tuple[float, int], ...]
    """(second, size from then on)."""

    def document(self) -> dict[str, Any]:
        """As JSON has it, which knows no infinity: null."""
        return {key: None if value == inf else value for key, value in asdict(self).items()}


def race(scenario: Scenario, name: str, racer: Racer, seed: int) -> Result:
    return judged(drive(scenario, racer, seed), name, seed)


def starting_at(scenario: Scenario, threads: int | None) -> Scenario:
    if threads is None:
        return scenario
    return scenario.model_copy(update={"service": scenario.service.model_copy(update={"threads": threads})})


def drive(scenario: Scenario, racer: Racer, seed: int) -> FastRun:
    """The whole run."""
    run = FastRun(starting_at(scenario, racer.threads), seed)
    controller = racer.build(run)
    turns = int(scenario.seconds / racer.period_s + 1e-9) if isfinite(racer.period_s) else 0
    for turn in range(1, turns + 1):
        now = min(turn * racer.period_s, scenario.seconds)
        run.until(now)
        until = max(0.0, now - racer.delay_s)
        windows = run.windows(until - racer.window_s, until, racer.bucket_ms, scenario.slo_ms_at(now))
        windows = replace(windows, since_ns=windows.since_ns + round(racer.clock_s * 1e9))
        for wanted in controller.decide(now, {POOL: windows}).values():
            size = min(max(wanted, BOUNDS[0]), BOUNDS[1])
            if size != run.size:
                run.resize(size)
    run.until(scenario.seconds)
    return run


def judged(run: FastRun, racer: str, seed: int) -> Result:
    return Result(racer, seed, *figures(run.scenario, *run.outcomes()), len(run.history) - 1, tuple(run.history))


def figures(scenario: Scenario, at_s: Floats, latency_s: Floats) -> tuple[float, float, float]:
    """p95 and p99, ms, and good responses a second; of each response the second when it came, and what it took, (n,).

    Without any response both times are infinite.
    """
    counted = at_s >= scenario.warm_up_s
    at_s, latency_ms = at_s[counted], latency_s[counted] * 1e3
    p95, p99 = np.quantile(latency_ms, [0.95, 0.99], method="lower") if len(at_s) else (inf, inf)
    good = (latency_ms <= slos_ms(scenario, at_s)).sum() / (scenario.seconds - scenario.warm_up_s)
    return float(p95), float(p99), float(good)


def slos_ms(scenario: Scenario, at_s: Floats) -> Floats:
    """The SLO in force at each second."""
    changes = [0.0, *sorted(event.at_s for event in scenario.events if event.slo_ms is not None)]
    values = np.array([scenario.slo_ms_at(second) for second in changes])
    return values[np.searchsorted(changes, at_s, side="right") - 1]
