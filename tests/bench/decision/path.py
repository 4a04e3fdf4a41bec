"""Whoever sizes both pools of a path (`testbed/path`): asked every period, its answers applied at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from types import SimpleNamespace

import numpy as np

from bench.controllers.in_loop import DELAY_S, PERIOD_S, InLoop, window_s
from bench.controllers.racers import HARDWARE, SLUICE
from bench.controllers.rivals import RIVALS, rows
from bench.controllers.signal import Limiter
from bench.racing import BOUNDS, Holding
from testbed.controller import Controller
from testbed.fine import PoolWindows
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


@dataclass(frozen=True)
class Seen:
    p99_ms: float
    goodput_per_s: float
    sizes: tuple[int, int]
    """Threads and connections at the end."""
    changes: int


def loops(run: PathRun) -> Controller:
    """The recommender's own loop for each of the two."""
    callee = SimpleNamespace(spec=SimpleNamespace(name=CALLEE), cores=run.scenario.callee.cores)
    caller = SimpleNamespace(spec=SimpleNamespace(name=CALLER), cores=run.scenario.caller.cores)
    sides = {THREADS: ("server", "", caller), CONNECTIONS: ("client", CALLEE, callee)}
    each = {}
    for name, (side, peer, bounded) in sides.items():
        pool = SimpleNamespace(name=name, service=CALLER, side=side, peer=peer, size=run.size(name), bounded=bounded)
        each[name] = InLoop(pool, run.scenario.slo_ms, bounds=BOUNDS)  # type: ignore[arg-type]
    return Both(each)


class Both:
    def __init__(self, each: Mapping[str, Controller]) -> None:
        self._each = each

    def decide(self, now_s: float, windows: Mapping[str, PoolWindows]) -> Mapping[str, int]:
        sizes: dict[str, int] = {}
        for controller in self._each.values():
            sizes |= controller.decide(now_s, windows)
        return sizes


def limiters(name: str) -> PathRacer:
    rule = rows()[name]
    period_s = rule().period_s
    return PathRacer(lambda _: Limiter({pool: rule() for pool in POOLS}), period_s, period_s)


RACERS: dict[str, PathRacer] = {
    SLUICE: PathRacer(loops, PERIOD_S, window_s(), DELAY_S),
    HARDWARE: PathRacer(lambda _: Holding()),
    **{name: limiters(name) for name in RIVALS},
}


def drive(scenario: PathScenario, racer: PathRacer, seed: int) -> Seen:
    run = PathRun(scenario, seed)
    controller = racer.build(run)
    turns = int(scenario.seconds / racer.period_s + 1e-9) if isfinite(racer.period_s) else 0
    for turn in range(1, turns + 1):
        now = min(turn * racer.period_s, scenario.seconds)
        run.until(now)
        until = max(0.0, now - racer.delay_s)
        seen = {pool: run.windows(pool, until - racer.window_s, until, 100, scenario.slo_ms) for pool in POOLS}
        for pool, wanted in controller.decide(now, seen).items():
            size = min(max(wanted, BOUNDS[0]), BOUNDS[1])
            if size != run.size(pool):
                run.resize(pool, size)
    run.until(scenario.seconds)
    at_s, latency_s = run.outcomes()
    counted = latency_s[at_s >= scenario.warm_up_s] * 1e3
    good = (counted <= scenario.slo_ms).sum() / (scenario.seconds - scenario.warm_up_s)
    changes = sum(len(history) - 1 for history in run.history.values())
    p99 = float(np.quantile(counted, 0.99, method="lower"))
    return Seen(p99, float(good), (run.size(THREADS), run.size(CONNECTIONS)), changes)
