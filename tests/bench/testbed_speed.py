"""The testbed: simulated seconds of the shop per second of one core, beside an empty event loop of as many events."""

import heapq
import time

from testbed.presets.shop import shop
from testbed.simulation import Simulation
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
    ]


def empty_loop(events: int) -> None:
    heap = [(float(n % 97), n, _nothing) for n in range(100)]
    heapq.heapify(heap)
    for n in range(events):
        at, _, action = heapq.heappop(heap)
        action()
        heapq.heappush(heap, (at + 1.0, n, action))


def _nothing() -> None:
    pass
