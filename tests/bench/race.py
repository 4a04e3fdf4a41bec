"""The race: what sizes cart's threads under six bursty workloads, judged by the response times that the users see.

The preset is `cart-bursts` (Sora 5.2): 5 threads and 2 cores, which a hardware scaler makes 4 above 80 % and 2 again
below 30 % for four looks on end. It looks every 5 s: with 15 s the 99th percentile of hardware-only scaling in "big
spike" is 1.4 s, where Table 2 prints 0.64. Seed, load and scaler are the same for everyone (`controllers/racers.py`).

    python -m bench race                      # everything, the table in out/race.md
    python -m bench.race big_spike ...        # one case at a time, printed as it ends; `all` for every one
    python -m bench.race --fixed 5,8,10 all   # sizes that stay, under the same scaling: what there is to win
The pool queues what it does not admit (it cannot reject), so a limiter here sizes a pool and sheds no load.

"large_variation from 60 threads" is the other mistake, far too many: ConScale V starts Tomcat with 60.

Then the three cases that break limiters, 4 minutes each, without scaling:
steady overload     2 cores, users for 1.4 times what they can serve
slow dependency     4 cores, 10 threads; from a third on the wait for cart-db takes ten times as long, 12 ms
constant timeouts   4 cores, 10 threads; in the second third every call of cart-db takes 1 s, then it is as before
Their goodput is also given for the last third. The limiters' rules alone are fed the third case as 600 full windows of
1 s response time after 60 of 25 ms.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from bench.controllers.estimated import Published
from bench.controllers.in_loop import InLoop
from bench.controllers.racers import HARDWARE, RACERS, SCG, SCT, SLO_S, Racer
from bench.controllers.rivals import RIVALS
from bench.controllers.signal import Rule, steady
from testbed.autoscale import VerticalScaler
from testbed.autoscale_agent import VerticalAgent
from testbed.bursty import BURSTY, LARGE_VARIATION, LENGTH
from testbed.controller import ControlAgent
from testbed.events import ServiceTime
from testbed.fine import FineWindows
from testbed.presets.cart_bursts import CART_BURSTS, WAIT_S, cart_bursts
from testbed.presets.sock_shop import CART_THREADS
from testbed.simulation import Scenario, Simulation

SEED = 1
SCALER_S = 5.0
OVER = 60
BREAKER_S = 240.0
HARDWARE_BAR, SCT_BAR = 2.5, 1.5
TO_BEAT = ("gradient2", "vegas", "correlated")


@dataclass(frozen=True)
class Case:
    scenario: Scenario
    seconds: float
    scaled: bool


@dataclass(frozen=True)
class Result:
    """Of the responses after the preset's warm-up: seconds, good ones a second, the pool's sizes from first to last."""

    p95_s: float
    p99_s: float
    goodput_per_s: float
    late_goodput_per_s: float
    """Of the last third."""
    sizes: tuple[int, ...]
    named: int | None = None
    """Targets that the estimator named, None where there is none: at 0 only the rules around it have moved the size."""


def run_one(case: Case, racer: Racer, seed: int = SEED) -> Result:
    fine = FineWindows()
    at: list[float] = []
    latency: list[float] = []

    def outcome(now: float, seconds: float, failed: bool) -> None:
        at.append(now)
        latency.append(float("inf") if failed else seconds)

    simulation = Simulation(case.scenario, seed, fine.add, outcome)
    fine.watch(simulation.pools.values())
    if case.scaled:
        VerticalAgent(simulation, "cart", VerticalScaler(lowest=2, highest=4, step=2), SCALER_S)
    controller = racer.build(simulation.pools[CART_THREADS])
    threshold = dict(CART_BURSTS.threshold_ms)
    agent = (racer.period_s, racer.window_s, racer.bucket_ms, racer.settle_s)
    ControlAgent(simulation, fine, controller, lambda _: threshold, *agent)
    simulation.run_until(case.seconds)
    return result_of(
        np.array(at),
        np.array(latency),
        case.seconds,
        tuple(size for _, size in simulation.pools[CART_THREADS].history),
        controller.named if isinstance(controller, InLoop | Published) else None,
    )


def result_of(at: np.ndarray, latency: np.ndarray, seconds: float, sizes: tuple[int, ...], named: int | None) -> Result:
    """``at``, ``latency``: second of each response and what it took, infinite where it failed; shape (n,)."""
    from_s, late_s = CART_BURSTS.warm_up_s, seconds * 2 / 3
    p95, p99 = np.quantile(latency[at >= from_s], [0.95, 0.99], method="lower")
    good = at[latency <= SLO_S]
    goodput = (good >= from_s).sum() / (seconds - from_s)
    return Result(float(p95), float(p99), float(goodput), float((good >= late_s).sum() / (seconds / 3)), sizes, named)


def rows_of(name: str, results: dict[str, Result], scaled: bool) -> Iterator[tuple[str, str]]:
    """A row for each controller; ratios of p99 above 1 are in its favour."""
    hardware, sct = results[HARDWARE].p99_s, results[SCT].p99_s
    for racer, each in results.items():
        late = "" if scaled else f" ({each.late_goodput_per_s:.0f}/s in the last third)"
        yield (
            f"{name}: {racer}",
            f"p95 {each.p95_s * 1e3:,.0f} ms, p99 {each.p99_s * 1e3:,.0f} ms, goodput {each.goodput_per_s:.0f}/s{late},"
            f" hardware-only/x {hardware / each.p99_s:.2f}, sct/x {sct / each.p99_s:.2f},"
            f" size {min(each.sizes)}..{max(each.sizes)}, at the end {each.sizes[-1]}"
            + ("" if each.named is None else f", targets named {each.named}"),
        )
    if scaled:
        yield f"{name}: bars", verdict(results)


def verdict(results: dict[str, Result]) -> str:
    """Which bars of design section 7 the default estimator meets in one workload."""
    p99 = {name: each.p99_s for name, each in results.items()}
    ours = p99[SCG]

    def bar(name: str, ratio: float, least: float) -> str:
        return f"{name}/scg {ratio:.2f} ({least}: {'met' if ratio >= least else 'not met'})"

    parts = [bar(HARDWARE, p99[HARDWARE] / ours, HARDWARE_BAR)]
    parts += [bar(name, p99[name] / ours, SCT_BAR) for name in (SCT, "sct as published")]
    parts += [
        f"{'ahead of' if ours < p99[name] else 'NOT ahead of'} {name} ({p99[name] / ours:.2f})" for name in TO_BEAT
    ]
    return ", ".join(parts)


def breakers(seconds: float) -> dict[str, Case]:
    """2 cores serve some 960/s; 3,500 * 0.65 users of 1.65 s ask for up to 1,380/s."""
    overload = cart_bursts(CART_BURSTS.users, {}, lambda _: 0.65)
    steady = cart_bursts(CART_BURSTS.users, {CART_THREADS: 10}, lambda _: 0.6, cores=4.0)
    slow = ServiceTime(seconds / 3, "cart", wait=10.0)
    hangs, recovers = ServiceTime(seconds / 3, "cart", wait=1.0 / WAIT_S), ServiceTime(seconds * 2 / 3, "cart")
    return {
        "steady overload": Case(overload, seconds, False),
        "slow dependency": Case(replace(steady, events=(slow,)), seconds, False),
        "constant timeouts": Case(replace(steady, events=(hangs, recovers)), seconds, False),
    }


def cases(seconds: float = LENGTH, breaker_s: float = BREAKER_S) -> dict[str, Case]:
    bursts = {name: Case(cart_bursts(CART_BURSTS.users, {}, shape), seconds, True) for name, shape in BURSTY.items()}
    over = Case(cart_bursts(CART_BURSTS.users, {CART_THREADS: OVER}, LARGE_VARIATION), seconds, True)
    return bursts | {f"large_variation from {OVER} threads": over} | breakers(breaker_s)


def race(name: str, case: Case) -> list[tuple[str, str]]:
    return list(rows_of(name, {racer: run_one(case, how) for racer, how in RACERS.items()}, case.scaled))


def fixed(name: str, case: Case, sizes: list[int]) -> list[tuple[str, str]]:
    """Brute force: the users' responses with each size held, scaling as in the race."""
    rows = []
    for size in sizes:
        topology = case.scenario.topology
        services = tuple(
            replace(each, threads=replace(each.threads, size=size)) if each.threads else each
            for each in topology.services
        )
        held = replace(case, scenario=replace(case.scenario, topology=replace(topology, services=services)))
        seen = run_one(held, RACERS[HARDWARE])
        figures = f"p95 {seen.p95_s * 1e3:,.0f} ms, p99 {seen.p99_s * 1e3:,.0f} ms, goodput {seen.goodput_per_s:.0f}/s"
        rows.append((f"{name}: fixed {size}", figures))
    return rows


def after_timeouts(rule: Rule, windows: int = 600) -> float:
    """The limit after 60 good windows and then these, each full and a second long, none of them counted as a drop."""
    for second in range(60 + windows):
        response_s, size = 0.025 if second < 60 else 1.0, max(1, int(rule.limit))
        rule.update(steady(response_s, size, size / response_s, size=size, until_s=second + 1.0))
    return rule.limit


def timeouts() -> list[tuple[str, str]]:
    return [
        (f"constant timeouts: {name}, rule alone", f"limit {after_timeouts(rule()):.0f}")
        for name, rule in RIVALS.items()
    ]


def run(quick: bool) -> list[tuple[str, str]]:
    """Rows (what, figure) for the table; quick: the first 2 minutes of two workloads, and breakers of one."""
    seconds, breaker_s = (LENGTH / 6, BREAKER_S / 4) if quick else (LENGTH, BREAKER_S)
    left_out = set(list(cases())[2:7]) if quick else set()
    rows = [("seed, users at the peak, seconds", f"{SEED}, {CART_BURSTS.users}, {seconds:.0f}")]
    for name, case in cases(seconds, breaker_s).items():
        if name not in left_out:
            rows += race(name, case)
    return rows + timeouts()


def main() -> None:
    every = cases()
    parser = argparse.ArgumentParser(prog="bench.race", description="One case of the race, or several.")
    parser.add_argument("cases", nargs="+", choices=[*every, "all"], metavar="CASE", help=f"of {', '.join(every)}, all")
    parser.add_argument("--fixed", metavar="SIZES", help="sizes to hold instead of the race, such as 5,10,20")
    options = parser.parse_args()
    sizes = [int(size) for size in options.fixed.split(",")] if options.fixed else []
    go: Callable[[str, Case], list[tuple[str, str]]] = (lambda name, case: fixed(name, case, sizes)) if sizes else race
    for name in every if "all" in options.cases else options.cases:
        for what, figure in go(name, every[name]):
            print(f"| {what} | {figure} |", flush=True)


if __name__ == "__main__":
    main()
