"""The loop on the simulated shop, each answer applied at once: does it settle where the users are served best?"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from fakes import CART, FakeClock, FakeCollector, FakeHistory, config
from sluice.collect import Measured
from sluice.collect.latency import last_index_within
from sluice.collect.rows import Rows, measure
from sluice.control.loop import ControlLoop
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from testbed.presets.shop import CART_THREADS, shop
from testbed.simulation import Simulation
from testbed.spans import Span
from testbed.topology import PoolSpec
from testbed.windows import windows

PERIOD_S, WINDOW_S, SETTLE_S = 5, 60, 2
THRESHOLD_NS = 150_000_000  # as in deploy/local/sluice.yaml


class Shop:
    """The simulation, and cart's windows as ClickHouse would give them."""

    def __init__(self, threads: int, seed: int, connections: int | None = None) -> None:
        """connections: what cart has towards its database, where that is what bounds it; None: as many as it likes."""
        self.spans: list[Span] = []
        scenario = shop(sizes={CART_THREADS: threads})
        if connections is not None:
            services = tuple(
                replace(service, connections={"cart-db": PoolSpec(connections, queue_limit=2000)})
                if service.name == "cart"
                else service
                for service in scenario.topology.services
            )
            scenario = replace(scenario, topology=replace(scenario.topology, services=services))
        self.simulation = Simulation(scenario, seed, self.spans.append)
        self.pool = self.simulation.pools[CART_THREADS]

    def newest(self, now_s: int) -> Measured | None:
        recent = [span for span in self.spans if span.end_ns > (now_s - WINDOW_S - 2 * SETTLE_S) * 1e9]
        last_good = last_index_within(THRESHOLD_NS)
        columns: dict[int, np.ndarray] = {}
        for key, window in windows(recent).items():
            good = sum(count for index, count in window.latency.items() if index <= last_good)
            row = columns.setdefault(key.bucket_ns // 10**6, np.zeros(6, dtype=np.int64))
            if (key.service, key.side) == ("cart", "server"):
                row[:4] += (window.busy_ns, window.completions, good, 1)
            if (key.side, key.peer) == ("client", "cart"):
                row[4:] += (window.completions, good)
        table = np.array([[0, bucket, *row] for bucket, row in sorted(columns.items())], dtype=np.int64)
        before_ms = int(table[-1, 1]) - SETTLE_S * 1000
        return measure(Rows(*table.T), 0, before_ms - WINDOW_S * 1000, before_ms, 100)

    def goodput(self, since_s: int, until_s: int) -> float:
        """Calls of cart per second that its callers saw end in time."""
        calls = [span for span in self.spans if (span.site.side, span.site.peer) == ("client", "cart")]
        inside = [span for span in calls if since_s <= span.end_ns / 1e9 < until_s and not span.failed]
        return float(sum(span.end_ns - span.start_ns <= THRESHOLD_NS for span in inside) / (until_s - since_s))


def run(shop_: Shop, until_s: int) -> list[int]:
    """Sizes in force, by period."""
    clock, collector, store, sizes = FakeClock(0), FakeCollector(), Store(), Sizes()
    loop = ControlLoop(config(pools=config().pools[:1]), collector, FakeHistory(), store, sizes, clock)
    course = []
    for now_s in range(PERIOD_S, until_s + 1, PERIOD_S):
        shop_.simulation.run_until(float(now_s))
        clock.now_ms = now_s * 1000
        collector.pools[CART] = shop_.newest(now_s)
        sizes.report(CART, shop_.pool.size, clock())
        loop.step()
        answer = store.get(CART)
        assert answer is not None
        if answer.content.target is not None and answer.content.target != shop_.pool.size:
            shop_.pool.resize(answer.content.target)
            sizes.report(CART, shop_.pool.size, clock())
        course.append(shop_.pool.size)
    return course


@pytest.mark.timeout(300)
def test_from_far_too_many_threads_it_settles_near_the_best_and_stays() -> None:
    """A sweep of fixed sizes (testbed.sweep) gives 97/s at 9 threads, 105/s at 12, 70/s at 64."""
    shop_ = Shop(64, seed=1)
    course = run(shop_, 180)
    settled = course[12:]  # after a minute
    assert all(8 <= size <= 16 for size in settled), course
    # The bursts repeat every 36 s: whole ones are compared.
    before, after = Shop(64, seed=1), shop_.goodput(72, 180)
    before.simulation.run_until(180.0)
    assert after >= 1.25 * before.goodput(72, 180)


@pytest.mark.timeout(300)
def test_from_too_few_threads_it_grows_by_bounded_steps_to_what_serves_best() -> None:
    """Each step follows as soon as the one before has gained, and the one too many is taken back."""
    course = run(Shop(4, seed=1), 200)
    grown = course[: course.index(max(course)) + 1]
    assert sorted(grown) == grown, course
    assert all(b - a <= -(-a // 4) for a, b in pairwise(course)), course
    assert max(course) <= 16, course
    assert 8 <= course[-1] <= 15, course


@pytest.mark.timeout(300)
def test_a_step_that_gains_nothing_is_taken_back() -> None:
    """Four connections to the database bound cart: a fifth, sixth and seventh thread only wait for them."""
    course = run(Shop(6, seed=1, connections=4), 240)
    assert 8 in course, course
    assert course[-1] == 6, course
    assert max(course) == 8, course
