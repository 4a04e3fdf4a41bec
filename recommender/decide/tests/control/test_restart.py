"""What the loop goes on with after a restart, and what it waits for."""

from itertools import pairwise

import numpy as np
import pytest
from worlds import World, brief

from fakes import (
    CART,
    FakeHistory,
    FakeService,
    hump,
    remembered,
)
from sluice.control.pauses import Pause
from sluice.control.state_log import NotThereError
from sluice.control.store import NotReadyError
from sluice.core.keys import PoolKey
from sluice.pools.policy.state import PoolState


def test_a_kill_in_a_trial_goes_on_with_the_trial() -> None:
    one = World()
    one.collector.services[CART] = FakeService(64)
    one.run(7)
    other = World(clock=one.clock, collector=one.collector, records=one.records)
    other.history.memory = {CART: remembered(one.cart)}
    after = other.run(1)[-1]
    assert other.loop.states[CART].facts.change is not None
    assert after.revision >= one.cart.revision
    assert other.run(60)[-1].content.state == "PROVIDED"


def test_after_a_restart_windows_are_read_from_where_the_evidence_ends() -> None:
    """Evidence was written up to 290 s ago: a window at a time, none of which counts for how late data come."""
    one = World()
    service = one.collector.services[CART] = FakeService(16)
    one.run(90)
    now_ms, evidence = one.clock(), one.cart.learnt.until_ms
    service.works(now_ms, now_ms + 200_000)
    one.clock.pass_s(200)
    other = World(clock=one.clock, collector=one.collector, records=one.records)
    one.collector.asked_ms.clear()
    other.sizes.report(CART, 16, other.clock())
    other.step(0)
    asked = one.collector.asked_ms
    assert [live for _, live in asked] == [False] * (len(asked) - 1) + [True]
    times = [at for at, _ in asked]
    assert all(after - before <= 60_000 for before, after in pairwise(times))
    assert times[0] <= evidence + 60_000
    seconds = sum(level.seconds for level in other.cart.learnt.evidence.levels)
    # 290 s, of which older ones count less, by a memory of 180 s.
    assert seconds == pytest.approx(180 * (1 - np.exp(-290 / 180)), rel=0.1)


def test_only_a_restart_reads_the_past() -> None:
    """A pool that nobody calls has evidence that ends long ago, and that is no reason to read again."""
    world = World()
    world.collector.services[CART] = FakeService(16)
    world.run(20)
    for _ in range(200):
        world.step(1)
    assert all(live for _, live in world.collector.asked_ms)


def test_states_that_cannot_be_read_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beginning anew would forget a change that is under way."""
    world = World()

    def away() -> dict[PoolKey, PoolState]:
        raise NotThereError("kafka is away")

    with monkeypatch.context() as patched:
        patched.setattr(world.states, "restore", away)
        world.clock.pass_s(1)
        world.loop.step()
        with pytest.raises(NotReadyError):
            world.store.newest()
    assert world.step().revision == 1


def test_a_restart_goes_on_with_the_revisions_of_the_last_run() -> None:
    before = World()
    before.collector.pools[CART] = hump()
    last = before.step()
    after = World(history=FakeHistory(memory={CART: remembered(last)}))
    after.collector.pools[CART] = hump()
    assert brief(after.step()) == brief(last)
    after.collector.pools[CART] = None
    assert brief(after.step()) == ("NO_DATA", None, last.revision + 1)


def test_nothing_is_published_before_the_memory_is_back() -> None:
    world = World(history=FakeHistory(problem=ConnectionError("down")))
    world.loop.step()
    with pytest.raises(NotReadyError):
        world.store.newest()
    world.history.problem = None
    assert brief(world.step()) == ("NO_DATA", None, 1)


def test_a_pause_outlives_a_restart() -> None:
    world = World(history=FakeHistory(paused_pools={CART: Pause(1, "ada", "release")}))
    world.collector.pools[CART] = hump()
    assert brief(world.step())[:2] == ("PAUSED", None)
