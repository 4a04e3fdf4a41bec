"""Whoever sizes both pools of a path (`testbed/path`): asked every period, its answers applied at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from bench.controllers.estimated import Published
from bench.controllers.in_loop import DELAY_S, NOTHING, PERIOD_S, InLoop, Sized, window_s
from bench.controllers.racers import HARDWARE, SLUICE
from bench.controllers.rivals import RIVALS, rows
from bench.controllers.signal import Limiter
from bench.racing import BOUNDS, Holding
from sluice.model.keys import PoolKey
from sluice.pools.estimate.models import BELIEF, ESTIMATORS
from testbed.controller import Controller
from testbed.path.memory import CALLEE, CALLER, CONNECTIONS, THREADS
from testbed.path.run import PathRun
from testbed.path.scenario import PathScenario

POOLS = (THREADS, CONNECTIONS)


@dataclass(frozen=True)
class PathRacer:
    """As ``racing.Racer``, with answers for both pools."""

    build: Callable[[PathRun], Controller]
    period_s: float = inf
    window_s: float = 1.0
    delay_s: float = 0.0
    bucket_ms: int = 100


@dataclass(frozen=True)
class Seen:
    p99_ms: float
    goodput_per_s: float
    sizes: tuple[int, int]
    """Threads and connections at the end."""
    changes: int


def in_loop(model: str = BELIEF, bucket_ms: int = 100) -> PathRacer:
    """The recommender's own loop: one for both, as they share a path."""

    def build(run: PathRun) -> InLoop:
        caller, callee, slo_ms = run.scenario.caller, run.scenario.callee, run.scenario.slo_ms
        threads = PoolKey(CALLER, "server", ""), run.size(THREADS), CALLER, caller.cores
        connections = PoolKey(CALLER, "client", CALLEE), run.size(CONNECTIONS), CALLEE, callee.cores
        pools = [Sized(THREADS, *threads, slo_ms, BOUNDS), Sized(CONNECTIONS, *connections, slo_ms, BOUNDS)]
        return InLoop(pools, model, bucket_ms)

    return PathRacer(build, PERIOD_S, window_s(model), DELAY_S, bucket_ms)


def published(model: str, window_s: float, bucket_ms: int) -> PathRacer:
    """As ``racers.published``: both pools by one estimator, without what the loop knows of paths."""
    return PathRacer(lambda _: Published(ESTIMATORS[model], window_s), 15.0, window_s, bucket_ms=bucket_ms)


def limiters(name: str) -> PathRacer:
    rule = rows()[name]
    period_s = rule().period_s
    return PathRacer(lambda _: Limiter({pool: rule() for pool in POOLS}), period_s, period_s)


RACERS: dict[str, PathRacer] = {
    SLUICE: in_loop(),
    f"{SLUICE} with nothing": in_loop(NOTHING),
    "scg with our gates": in_loop("scg-top"),
    "sct with our gates": in_loop("sct", 50),
    HARDWARE: PathRacer(lambda _: Holding()),
    **{name: limiters(name) for name in RIVALS},
}

PUBLISHED: dict[str, PathRacer] = {
    "sct as published": published("sct", 180.0, 50),  # ConScale III-A and III-B
    "scg as published": published("scg-kneedle", 60.0, 100),  # Sora 4.1
}


def drive(scenario: PathScenario, racer: PathRacer, seed: int) -> Seen:
    return seen(driven(scenario, racer, seed))


def driven(scenario: PathScenario, racer: PathRacer, seed: int) -> PathRun:
    """The whole run."""
    run = PathRun(scenario, seed)
    controller = racer.build(run)
    turns = int(scenario.seconds / racer.period_s + 1e-9) if isfinite(racer.period_s) else 0
    for turn in range(1, turns + 1):
        now = min(turn * racer.period_s, scenario.seconds)
        run.until(now)
        until = max(0.0, now - racer.delay_s)
        records = {
            pool: run.windows(pool, until - racer.window_s, until, racer.bucket_ms, scenario.slo_ms) for pool in POOLS
        }
        for pool, wanted in controller.decide(now, records).items():
            size = min(max(wanted, BOUNDS[0]), BOUNDS[1])
            if size != run.size(pool):
                run.resize(pool, size)
    run.until(scenario.seconds)
    return run


def seen(run: PathRun) -> Seen:
    at_s, latency_s = run.outcomes()
    scenario = run.scenario
    counted = latency_s[at_s >= scenario.warm_up_s] * 1e3
    good = (counted <= scenario.slo_ms).sum() / (scenario.seconds - scenario.warm_up_s)
    changes = sum(len(history) - 1 for history in run.history.values())
    p99 = float(np.quantile(counted, 0.99, method="lower"))
    return Seen(p99, float(good), (run.size(THREADS), run.size(CONNECTIONS)), changes)
