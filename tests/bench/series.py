"""The loads of the real application, simulated: six series of real rates and two steps, open loop, sizes drawn by seed.

users -> gateway -+-> catalogue -> catalogue-db     (catalogue.connections)
                  +-> cart -> cart-db               (cart.threads, cart.connections)

Services are few and simple beside those of `testbed/polyglot` (cart's query waits for 60 ms there too), and share no
core: what differs is by the pools. Sluice and SCT see windows that are 3 s old. Nobody scales the hardware: "held"
keeps the drawn sizes. Requests that have not ended with the load do not count, which spares those with long queues.
`SEEDS=11-15` chooses seeds.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import NamedTuple

import numpy as np

from bench.controllers.estimated import Published
from bench.controllers.in_loop import PERIOD_S, InLoop, Sized
from bench.decision.summary import markdown
from bench.race import mapped
from bench.real.table import BARS, MORE_GOOD, interval
from bench.run_files import requested_seeds
from sluice.pools.estimate.models import ESTIMATORS
from testbed.controller import ControlAgent, Controller
from testbed.distributions import Constant, Exponential, LogNormal
from testbed.fine import FineWindows
from testbed.real.rates import LENGTH, RATES
from testbed.simulation import Scenario, Simulation
from testbed.topology import Call, Compute, Parallel, PoolSpec, ServiceSpec, Topology, Wait

SEEDS, QUICK_SEEDS = (2001, 2002, 2003, 2004, 2005), (2001,)
QUICK_LOADS = ("twitter_10s_burst1", "step_up")
MOST_PER_S, SLO_MS, PATIENCE_S = 60.0, 400.0, 30.0
"""Requests a second at the peak of a load; within the SLO a response is good; one that failed took as long as users
wait."""
DELAY_S = 3.0
SLUICE, HELD, SCT, PLENTY = "sluice", "held", "sct as published", "16 of each"
SCT_PERIOD_S, SCT_WINDOW_S = 15.0, 60.0
"""As in `bench/real/published.py`."""
POOLS: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "catalogue.connections": ((1, 2, 3), (64, 96, 128)),
    "cart.threads": ((1, 2), (64, 96, 128)),
    "cart.connections": ((1, 2), (64, 96, 128)),
}
"""Small and large first sizes: those of the real application's pools."""
Sizes = dict[str, int]


class Task(NamedTuple):
    method: str
    load: str
    seed: int


@dataclass(frozen=True)
class Seen:
    """By the users, in ms and a second."""

    p95_ms: float
    p99_ms: float
    good_per_s: float
    changes: int


def drawn(seed: int) -> Sizes:
    """Each pool is too small or far too large, with equal chances."""
    rng = random.Random(f"series/{seed}")
    return {name: rng.choice(rng.choice(sizes)) for name, sizes in POOLS.items()}


def scenario(load: str, sizes: Sizes) -> Scenario:
    def pool(name: str) -> PoolSpec:
        return PoolSpec(sizes[name], queue_limit=2000, name=name, min=1, max=256)

    def work(ms: float) -> Compute:
        return Compute(LogNormal(ms / 1e3, 0.5))

    both = Parallel((Call("catalogue", "GET /catalogue"), Call("cart", "GET /cart")))
    gateway = ServiceSpec("gateway", {"GET /": (work(1.0), both, work(0.5))})
    catalogue = ServiceSpec(
        "catalogue",
        {"GET /catalogue": (work(1.0), Call("catalogue-db", "SELECT"), work(0.5))},
        connections={"catalogue-db": pool("catalogue.connections")},
    )
    cart = ServiceSpec(
        "cart",
        {"GET /cart": (work(2.0), Call("cart-db", "SELECT"), work(1.0))},
        threads=pool("cart.threads"),
        connections={"cart-db": pool("cart.connections")},
    )
    catalogue_db = ServiceSpec("catalogue-db", {"SELECT": (work(3.0), Wait(Constant(0.02)))}, database="catalogue")
    cart_db = ServiceSpec("cart-db", {"SELECT": (work(0.5), Wait(Constant(0.06)))}, database="carts")
    return Scenario(
        Topology((gateway, catalogue, cart, catalogue_db, cart_db), entry="gateway"),
        {"GET /": 1.0},
        think=Exponential(1.0),
        users=0,
        shape=RATES[load],
        arrivals_per_s=MOST_PER_S,
    )


def run_one(task: Task) -> Seen:
    sizes = dict.fromkeys(POOLS, 16) if task.method == PLENTY else drawn(task.seed)
    fine, took_s = FineWindows(), list[float]()

    def answered(time_s: float, latency_s: float, failed: bool) -> None:
        took_s.append(PATIENCE_S if failed else min(latency_s, PATIENCE_S))

    simulation = Simulation(scenario(task.load, sizes), task.seed, fine.add, answered)
    fine.watch(simulation.pools.values())
    agent = _agent(task.method, simulation, fine)
    simulation.run_until(LENGTH)
    took = np.array(took_s)
    p95_ms, p99_ms = (float(1e3 * np.quantile(took, share)) for share in (0.95, 0.99))
    good_per_s = float((took <= SLO_MS / 1e3).sum()) / LENGTH
    return Seen(p95_ms, p99_ms, good_per_s, len(agent.applied) if agent is not None else 0)


def _agent(method: str, simulation: Simulation, fine: FineWindows) -> ControlAgent | None:
    """None: nobody decides."""

    def control(controller: Controller, period_s: float, window_s: float) -> ControlAgent:
        return ControlAgent(
            simulation,
            fine,
            controller,
            lambda now_s: dict.fromkeys(POOLS, SLO_MS),
            period_s,
            window_s,
            settle_s=DELAY_S,
        )

    if method == SLUICE:
        sized = [Sized.of(pool, SLO_MS) for pool in simulation.pools.values()]
        return control(InLoop(sized, reports=True), PERIOD_S, PERIOD_S)
    if method == SCT:
        return control(Published(ESTIMATORS["sct"], SCT_WINDOW_S), SCT_PERIOD_S, SCT_WINDOW_S)
    return None


def run(quick: bool) -> str:
    loads, seeds = QUICK_LOADS if quick else tuple(RATES), requested_seeds(QUICK_SEEDS if quick else SEEDS)
    tasks = [Task(method, load, seed) for load in loads for seed in seeds for method in (SLUICE, SCT, HELD, PLENTY)]
    return report(dict(zip(tasks, mapped(run_one, tasks), strict=True)))


def report(found: Mapping[Task, Seen]) -> str:
    """Tables by load, with the half of the 95 % interval over seeds; then the geometric means of the ratios."""
    by_row: dict[tuple[str, str], list[Seen]] = defaultdict(list)
    for task, seen in found.items():
        by_row[task.load, task.method].append(seen)
    head = ["load", "method", "p95, ms", "p99, ms", f"good within {SLO_MS:g} ms, a second", "changes"]
    rows = [
        [load, method, *(interval([float(getattr(seen, name)) for seen in items]) for name in Seen.__annotations__)]
        for (load, method), items in by_row.items()
    ]
    return f"{markdown(head, rows)}\n{against(found)}"


def against(found: Mapping[Task, Seen]) -> str:
    """Sluice beside each other method on the same load and seed.

    Worked: p99 of 400 and 900 ms, of the rival 800 and 3,600 ms: ratios 2 and 4, mean 2.83.
    """
    bars = {HELD: BARS[0][1], SCT: BARS[1][1]}
    rows = [_against(found, rival, bars.get(rival)) for rival in (HELD, SCT, PLENTY)]
    return markdown(["Sluice against", "pairs", "its p99 over Sluice's", "Sluice's goodput over its"], rows)


def _against(found: Mapping[Task, Seen], rival: str, least: float | None) -> list[str]:
    pairs: Sequence[tuple[Seen, Seen]] = [
        (seen, found[task._replace(method=rival)]) for task, seen in found.items() if task.method == SLUICE
    ]
    p99 = geometric_mean([other.p99_ms / ours.p99_ms for ours, other in pairs])
    good = geometric_mean([ours.good_per_s / other.good_per_s for ours, other in pairs])
    bars = ("", "") if least is None else (f" (bar {least})", f" (bar {MORE_GOOD})")
    return [rival, f"{len(pairs)}", f"{p99:.2f}{bars[0]}", f"{good:.2f}{bars[1]}"]
