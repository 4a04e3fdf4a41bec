"""Sizes on trial in the whole loop: what is tried, what is taken back, what a change of load must not be taken for."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fakes import BUCKET_MS, CART, FakeClock, FakeCollector, FakeHistory, config, hump, measured
from humps import samples_of
from sluice.collect import Measured
from sluice.control.answer import Answer
from sluice.control.loop import ControlLoop
from sluice.control.sizes import Sizes
from sluice.control.store import Store

PERIOD_S, WINDOW = 5, 600
Rate = Callable[[np.ndarray], np.ndarray]


class Applied:
    """Cart as a function of what is in flight, with every answer applied at once.

    Demand rises and falls between 1 and `highest` every 20 s; what exceeds the size waits, and is late.
    """

    def __init__(self, size: int, rate: Rate, highest: float) -> None:
        self.clock, self.collector, self.store, self.sizes = FakeClock(), FakeCollector(), Store(), Sizes()
        pools = config().pools[:1]
        self.loop = ControlLoop(config(pools=pools), self.collector, FakeHistory(), self.store, self.sizes, self.clock)
        self.size, self.rate, self.highest, self.course = size, rate, highest, [size]
        self._rng = np.random.default_rng(1)
        self._columns = np.empty((3, 0))

    def run(self, seconds: int) -> Answer:
        answer = None
        for _ in range(0, seconds, PERIOD_S):
            answer = self._period()
            if answer.content.target is not None and answer.content.target != self.size:
                self.size = answer.content.target
                self.course.append(self.size)
        assert answer is not None
        return answer

    def _period(self) -> Answer:
        self.sizes.report(CART, self.size, self.clock())
        starts = self.clock() + BUCKET_MS * np.arange(PERIOD_S * 1000 // BUCKET_MS)
        wanted = 1 + (self.highest - 1) * (0.5 - 0.5 * np.cos(2 * np.pi * starts / 20_000))
        inside = np.minimum(wanted, self.size)
        rates = self.rate(inside) * self._rng.normal(1, 0.05, len(inside))
        self._columns = np.concatenate((self._columns, (starts, inside, rates)), axis=1)[:, -WINDOW:]
        self.clock.pass_s(PERIOD_S)
        self.sizes.report(CART, self.size, self.clock())
        self.collector.pools[CART] = self._window()
        self.loop.step()
        answer = self.store.get(CART)
        assert answer is not None
        return answer

    def _window(self) -> Measured:
        starts, inside, rates = self._columns
        starts_ms = starts.astype(np.int64)
        full = inside >= 0.9 * self.sizes.limits(CART, starts_ms)
        samples = samples_of(inside, rates)
        return Measured(replace(samples, goodput_per_s=np.where(full, 0, rates)), starts_ms, BUCKET_MS)


def thrashes(n: np.ndarray) -> np.ndarray:
    """100/s each up to 10 in flight, then less and less: 1000/s at 10, 667 at 30, 500 at 60."""
    return np.asarray(1000 * np.minimum(n / 10, 40 / (30 + n)))


def test_a_pool_that_thrashes_when_it_is_full_is_stepped_down_to_where_it_does_not() -> None:
    world = Applied(60, thrashes, highest=300)
    world.run(180)
    assert world.course[:3] == [60, 30, 15]
    assert 10 <= world.size <= 15


def test_each_step_waits_until_the_one_before_is_known_to_have_gained() -> None:
    world = Applied(60, thrashes, highest=300)
    assert world.run(55).content.target in (60, None)
    world.run(5)
    assert world.course == [60, 30]
    world.run(5)
    assert world.course == [60, 30]  # 5 s are too few
    world.run(5)
    assert world.course == [60, 30, 15]


def test_a_pool_that_gains_by_each_slot_is_stepped_up_and_never_down() -> None:
    world = Applied(8, lambda n: np.asarray(10 * n), highest=300)
    world.run(180)
    assert all(more > less for less, more in pairwise(world.course))
    assert world.size > 2 * 8


def test_heavier_requests_are_not_taken_for_thrashing() -> None:
    """From 100/s each, and never full, to 10/s each and always full: a larger pool is what helps."""
    world = Applied(10, lambda n: np.asarray(100 * n), highest=9)
    world.run(120)
    assert world.course == [10]
    world.rate, world.highest = lambda n: np.asarray(10 * n), 300.0
    world.run(120)
    assert min(world.course) == 10
    assert world.size > 10


def test_a_size_that_a_curve_named_and_that_loses_is_taken_back_and_not_named_again_soon() -> None:
    """The hump says 13 of 64. At 13, full, 30/s complete, where 102/s did with 13 and more in flight."""
    world = Applied(64, thrashes, highest=1)
    world.sizes.report(CART, 64, world.clock())
    world.collector.pools[CART] = hump(world.clock())
    named = step(world)
    assert (named.content.state, named.content.target) == ("PROVIDED", 13)
    world.sizes.report(CART, 13, world.clock())
    world.collector.pools[CART] = measured(np.full(WINDOW, 13.0), np.full(WINDOW, 30.0), world.clock() + 60_000)
    assert step(world).content.target == 13  # 5 s are too few
    world.sizes.report(CART, 13, world.clock())
    taken = step(world)
    assert taken.content.target == 64
    assert "WENT_BACK" in taken.content.codes
    world.sizes.report(CART, 64, world.clock())
    assert step(world).content.target == 64  # what was named is not held either
    world.sizes.report(CART, 64, world.clock())
    world.collector.pools[CART] = hump(world.clock() + 60_000)
    again = step(world)
    assert (again.content.state, again.content.target) == ("PROVIDED", 64)
    assert "KEPT" in again.content.codes


def step(world: Applied) -> Answer:
    world.clock.pass_s(PERIOD_S)
    world.loop.step()
    answer = world.store.get(CART)
    assert answer is not None
    return answer
