"""The testbed: simulated seconds per second of one core, beside an empty event loop of as many events."""

import heapq
import time

from bench.scenarios import scenario as named
from testbed.fine import FineWindows
from testbed.presets.shop import shop
from testbed.presets.sock_shop import CART, CART_THREADS
from testbed.simulation import Simulation
from testbed.single.plain import PlainRun
from testbed.single.run import FastRun
from testbed.spans import Span

SIMULATED_S = 120.0


def run() -> list[tuple[str, str]]:
    """Rows (what, figure) for the table."""
    spans: list[Span] = []
    simulation = Simulation(shop(), 1, spans.append)
    begun = time.process_time()
    events = simulation.run_until(SIMULATED_S)
    shop_s = time.process_time() - begun
    begun = time.process_time()
    empty_loop(events)
    empty_s = time.process_time() - begun
    return [
        ("reference: heap of as many empty events", f"{events / empty_s:,.0f} events/s/core"),
        ("shop", f"{events / shop_s:,.0f} events/s/core"),
        ("shop / reference", f"{empty_s / shop_s:.2f}"),
        ("shop", f"{len(spans) / shop_s:,.0f} spans/s/core"),
        ("shop", f"{SIMULATED_S / shop_s:,.0f} simulated s per s of one core"),
        sock_shop(),
        *compiled(),
    ]


def compiled() -> list[tuple[str, str]]:
    """2 minutes of a busy service on both engines, which give the same events; then the 12 of the race's workload."""
    scenario = named("large_variation")
    short = scenario.model_copy(update={"seconds": 120.0})
    FastRun(short, 1).until(1.0)  # compiles
    plain_s, fast_s = _seconds(PlainRun(short, 1)), _seconds(FastRun(short, 1))
    run = FastRun(scenario, 1)
    whole_s = _seconds(run)
    return [
        ("reference: 2 minutes of large_variation on the plain engine", f"{plain_s:.2f} s of one core"),
        ("the same, compiled", f"{fast_s:.3f} s"),
        ("plain / compiled (bar: 20)", f"{plain_s / fast_s:.0f}"),
        ("12 minutes of large_variation, compiled", f"{whole_s:.2f} s, {run.finished:,} requests"),
    ]


def _seconds(run: FastRun | PlainRun) -> float:
    begun = time.process_time()
    run.until(run.scenario.seconds)
    return time.process_time() - begun


def sock_shop() -> tuple[str, str]:
    """12 minutes of Sock Shop's cart with 3,500 users of 7 s think time, fine windows included."""
    fine, spans = FineWindows(), [0]

    def on_span(span: Span) -> None:
        spans[0] += 1
        fine.add(span)

    simulation = Simulation(CART.build(3500, {CART_THREADS: 12}), 1, on_span)
    fine.watch(simulation.pools.values())
    begun = time.process_time()
    simulation.run_until(720.0)
    seconds = time.process_time() - begun
    return "12 minutes of Sock Shop, 3,500 users", f"{seconds:.1f} s of one core, {spans[0]:,} spans"


def empty_loop(events: int) -> None:
    heap = [(float(n % 97), n, _nothing) for n in range(100)]
    heapq.heapify(heap)
    for n in range(events):
        at, _, action = heapq.heappop(heap)
        action()
        heapq.heappush(heap, (at + 1.0, n, action))


def _nothing() -> None:
    pass
