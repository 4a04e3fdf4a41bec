"""The decider looks up clocks every ten seconds, and goes on with what it knows."""

import logging

import pytest

from sluice.model.problems import Problems
from sluice.pools.clocks.offsets import Instance
from sluice.pools.period.clock_offsets import ShardClocks
from sluice_kit.decide.fakes import FakeCollector, config
from sluice_kit.decide.worlds import World

A, B = Instance("cart", "a"), Instance("cart", "b")
CONFIG = config()


def test_they_are_asked_for_every_ten_seconds() -> None:
    clocks, collector = ShardClocks(), FakeCollector(ahead_ms={A: 1_000, B: -3_000})
    for now_ms in (0, 1_000, 9_999, 10_000, 15_000, 20_000, 5_000):  # the last after a clock that was set back
        clocks.look(CONFIG, collector, now_ms, Problems())
    assert collector.clocks_asked_ms == [0, 10_000, 20_000, 5_000]
    assert clocks.known_ms == {A: 1_000, B: -3_000}
    assert clocks.farthest_ms == 3_000


def test_what_cannot_be_read_stays_as_it_was_known(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clocks, collector, problems = ShardClocks(), FakeCollector(ahead_ms={A: 1_000}), Problems()
    clocks.look(CONFIG, collector, 0, problems)
    collector.clocks_problem = ConnectionError("down")
    clocks.look(CONFIG, collector, 10_000, problems)
    assert clocks.known_ms == {A: 1_000}
    assert problems.counts == {"clocks": 1}
    collector.clocks_problem, collector.ahead_ms = None, {}
    clocks.look(CONFIG, collector, 20_000, problems)
    assert clocks.known_ms == {}
    told = [record.getMessage() for record in caplog.records if "clock offset of" in record.getMessage()]
    assert told == ["clock offset of cart a: now 1.0 s ahead", "clock offset of cart a: now right"]


def test_metrics_say_how_many_are_off_and_by_how_much_at_most() -> None:
    world = World()
    world.collector.ahead_ms = {A: 1_000, B: -3_000}
    world.step()
    got = world.loop.counts.registry.get_sample_value
    assert got("sluice_decider_clocks_off") == 2
    assert got("sluice_decider_clock_offset_max_seconds") == 3.0


def test_a_period_goes_on_without_them() -> None:
    world = World()
    world.collector.clocks_problem = ConnectionError("no such table")
    assert world.step() is not None
    assert world.problems.counts == {"clocks": 1}
