"""The race: what sizes cart's threads under six bursty workloads, judged by the response times that the users see.

Every controller has the same hardware scaling (cart's CPU limit, 2 or 4 cores by utilization), seed and load. The pool
starts at 10; limiters begin from their own 20. Estimators decide every 15 s on the last 60 s (the recommender's
default; Kneedle on Sora's 180 s), limiters every second on the last second: each on its own scale.

    python -m bench race                       # everything, the table in out/race.md
    python -m bench.race large_variation       # one case at a time, printed as it ends
The pool queues what it does not admit (it cannot reject), so a limiter here sizes a pool and sheds no load.

Then two of the three cases that break limiters, without scaling: steady overload, and a slow dependency (cart-db takes
three times as long from a third of the run on). The testbed has no timeouts: the third, constant timeouts, is fed to
the rules alone, as 600 full windows of 1 s response time after 60 of 25 ms.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bench.controllers.aimd import Aimd
from bench.controllers.correlated import Correlated
from bench.controllers.estimated import Bare, Fixed, Guarded
from bench.controllers.gradient2 import Gradient2
from bench.controllers.signal import Limiter, Rule, Signal
from bench.controllers.vegas import Vegas
from sluice.estimate.models import ESTIMATORS
from testbed.autoscale import VerticalScaler
from testbed.autoscale_agent import VerticalAgent
from testbed.bursty import BURSTY, LENGTH
from testbed.controller import ControlAgent, Controller
from testbed.events import ServiceTime
from testbed.fine import FineWindows
from testbed.presets.sock_shop import CART, CART_THREADS
from testbed.simulation import Scenario, Simulation

SEED = 1
USERS = 3500
OVERLOAD_USERS = 4000
WINDOW_S, SORA_WINDOW_S, PERIOD_S = 60.0, 180.0, 15.0
SLO_S = CART.user_threshold_ms / 1e3
HARDWARE, SCT = "hardware-only", "sct"

RULES: dict[str, Callable[[], Rule]] = {
    "gradient2": Gradient2,
    "vegas": Vegas,
    "aimd": lambda: Aimd(timeout_s=SLO_S),
    "correlated": Correlated,
}


@dataclass(frozen=True)
class Racer:
    build: Callable[[], Controller]
    period_s: float
    window_s: float


def _limiter(rule: Callable[[], Rule]) -> Racer:
    return Racer(lambda: Limiter({CART_THREADS: rule()}), 1.0, 1.0)


RACERS: dict[str, Racer] = {
    HARDWARE: Racer(Fixed, PERIOD_S, WINDOW_S),
    SCT: Racer(lambda: Guarded(ESTIMATORS["sct"], WINDOW_S), PERIOD_S, WINDOW_S),
    "scg-kneedle": Racer(lambda: Bare(ESTIMATORS["scg-kneedle"], SORA_WINDOW_S), PERIOD_S, SORA_WINDOW_S),
    "scg": Racer(lambda: Guarded(ESTIMATORS["scg"], WINDOW_S), PERIOD_S, WINDOW_S),
    **{name: _limiter(rule) for name, rule in RULES.items()},
}


@dataclass(frozen=True)
class Result:
    """Of the responses after the preset's warm-up: seconds, good ones a second, the pool's first to last size."""

    p95_s: float
    p99_s: float
    goodput_per_s: float
    sizes: tuple[int, ...]
    named: int | None = None
    """Targets that the estimator named, None where there is none: at 0 only exploration has moved the size."""


def run_one(scenario: Scenario, racer: Racer, seconds: float, seed: int, scaled: bool = True) -> Result:
    fine = FineWindows()
    seen: list[tuple[float, bool]] = []

    def outcome(at: float, latency: float, failed: bool) -> None:
        if at >= CART.warm_up_s:
            seen.append((latency, failed))

    simulation = Simulation(scenario, seed, fine.add, outcome)
    fine.watch(simulation.pools.values())
    if scaled:
        VerticalAgent(simulation, "cart", VerticalScaler(lowest=2, highest=4, step=2))
    controller = racer.build()
    threshold = dict(CART.threshold_ms)
    ControlAgent(simulation, fine, controller, lambda _: threshold, racer.period_s, racer.window_s)
    simulation.run_until(seconds)
    latency = np.array([each for each, _ in seen])
    good = sum(not failed and each <= SLO_S for each, failed in seen)
    p95, p99 = np.quantile(latency, [0.95, 0.99])
    sizes = tuple(size for _, size in simulation.pools[CART_THREADS].history)
    named = controller.named if isinstance(controller, Bare | Guarded) else None
    return Result(float(p95), float(p99), good / (seconds - CART.warm_up_s), sizes, named)


def rows_of(case: str, results: dict[str, Result]) -> list[tuple[str, str]]:
    """A row for each controller; ratios of p99 above 1 are in its favour."""
    hardware, sct = results[HARDWARE].p99_s, results[SCT].p99_s
    return [
        (
            f"{case}: {name}",
            f"p95 {each.p95_s * 1e3:,.0f} ms, p99 {each.p99_s * 1e3:,.0f} ms, goodput {each.goodput_per_s:.0f}/s,"
            f" hardware-only/x {hardware / each.p99_s:.2f}, sct/x {sct / each.p99_s:.2f},"
            f" size {min(each.sizes)}..{max(each.sizes)}, at the end {each.sizes[-1]}"
            + ("" if each.named is None else f", targets named {each.named}"),
        )
        for name, each in results.items()
    ]


def limiter_breakers(seconds: float, users: int) -> dict[str, Scenario]:
    """No scaling in either. 2 cores at 5 ms of CPU serve under 400/s; 4,000 users of 7 s ask for up to 570/s."""
    overload = CART.build(users, {}, lambda _: 1.0)
    slow = CART.build(users, {}, lambda _: 0.6)
    return {
        "steady-overload": overload,
        "slow-dependency": replace(slow, events=(ServiceTime(seconds / 3, "cart-db", wait=3.0),)),
    }


def after_timeouts(rule: Rule, windows: int = 600) -> float:
    """The limit after 60 good windows and then these, each full and a second long, none of them counted as a drop."""
    for response_s, count in ((0.025, 60), (1.0, windows)):
        for _ in range(count):
            rule.update(Signal(400, response_s, response_s, rule.limit, rule.limit / response_s))
    return rule.limit


@dataclass(frozen=True)
class Case:
    scenario: Scenario
    seconds: float
    scaled: bool


def cases(seconds: float) -> dict[str, Case]:
    """Every case by name; the limiter breakers take half the seconds."""
    bursts = {name: Case(CART.build(USERS, {}, shape), seconds, True) for name, shape in BURSTY.items()}
    breakers = limiter_breakers(seconds / 2, OVERLOAD_USERS)
    return bursts | {name: Case(scenario, seconds / 2, False) for name, scenario in breakers.items()}


def race(name: str, case: Case) -> list[tuple[str, str]]:
    results = {racer: run_one(case.scenario, how, case.seconds, SEED, case.scaled) for racer, how in RACERS.items()}
    return rows_of(name, results)


def run(quick: bool) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table; quick: the first 2 minutes of two workloads, and the breakers for one."""
    seconds = LENGTH / 6 if quick else LENGTH
    left_out = set(list(BURSTY)[2:]) if quick else set()
    rows = [("seed, users at the peak, seconds", f"{SEED}, {USERS}, {seconds:.0f}")]
    for name, case in cases(seconds).items():
        if name not in left_out:
            rows += race(name, case)
    return rows + timeouts()


def timeouts() -> list[tuple[str, str]]:
    return [
        (f"constant timeouts: {name}, rule alone", f"limit {after_timeouts(rule()):.0f}")
        for name, rule in RULES.items()
    ]


def main() -> None:
    every = cases(LENGTH)
    parser = argparse.ArgumentParser(prog="bench.race", description="One case of the race, or several.")
    parser.add_argument("cases", nargs="+", choices=sorted(every), metavar="CASE", help=f"of {', '.join(every)}")
    for name in parser.parse_args().cases:
        for what, figure in race(name, every[name]):
            print(f"| {what} | {figure} |", flush=True)


if __name__ == "__main__":
    main()
