"""Each law by hand, on the plain engine; ``test_fast_run.py`` holds the compiled one to it."""

import pytest

from testbed.cpu import Cpu
from testbed.engine import Engine
from testbed.laws import Cliff, Convoy, Pauses
from testbed.topology import Hold

from .worlds import World, back, compute, front, ms, wait


def test_the_documented_values():
    cliff, convoy, pauses = Cliff(20, 0.03), Convoy(8, 0.4e-3), Pauses(30, 40e-3)
    assert [cliff.share(n) for n in (1, 20, 30, 50, 100)] == pytest.approx([1, 1, 0.7, 0.1, 0.1])
    assert [convoy.seconds(n) for n in (0, 8, 18)] == pytest.approx([0.4e-3, 0.4e-3, 0.6e-3])
    assert [pauses.seconds(n) for n in (15, 90, 10_000)] == pytest.approx([0.020, 0.120, 0.9])


def test_beyond_the_cliff_all_threads_share_less():
    """Three of 1 s on 3 cores; the third takes half of the total rate: each runs at 1/2 and ends at 2 s."""
    engine, ends = Engine(), []
    cpu = Cpu(engine, 3.0, cliff=Cliff(2, 0.5))
    for _ in range(3):
        cpu.run(1.0, lambda _: ends.append(engine.now), None)
    engine.run_until(10.0)
    assert ends == pytest.approx([2.0, 2.0, 2.0])
    assert cpu.used() == pytest.approx(6.0)


def test_a_convoy_lets_one_through_at_a_time_and_each_waiter_too_many_makes_it_slower():
    """Four, the first of which finds nobody; then 2, 1, 0 wait behind the holder: 100, 105, 100 and 100 ms."""
    world = World(front(), back(Hold(Convoy(1, 0.100)), wait(0.010)))
    for _ in range(4):
        world.send(0.0)
    world.run()
    assert [ms(span)[1] - 2 for span in world.of("back", "server")] == [110, 215, 315, 415]


def test_in_a_pause_no_thread_goes_on_but_what_they_wait_for_does():
    """Two in flight at 1 s: a pause of 200 ms. The first computes from 0.902 on, and has 202 of 300 ms left at 1.2; the
    second waits from 0.992 to 1.092, and computes from 1.2 on; the third comes in the pause, and begins at 1.2."""
    world = World(front(), back(wait(0.100), compute(0.300), threads=8, pauses=Pauses(10, 1.0)))
    for second in (0.800, 0.990, 1.050):
        world.send(second)
    world.run(5.0)
    instance = world.application.instances["back"][0]
    assert [ms(span) for span in world.of("back", "server")] == [(802, 1402), (992, 1500), (1052, 1600)]
    assert instance.cpu.used() == pytest.approx(0.9)


def test_who_is_idle_does_not_pause():
    world = World(front(), back(compute(0.300), threads=8, pauses=Pauses(10, 1.0)))
    world.send(1.5)
    assert [ms(span) for span in world.run(5.0).of("back", "server")] == [(1502, 1802)]
