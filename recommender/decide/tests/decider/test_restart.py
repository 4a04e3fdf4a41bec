"""What a decider goes on with after another one, and what it waits for."""

from itertools import pairwise

import numpy as np
import pytest

from sluice.common.v1.decision_pb2 import ACTION_APPLY
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.pools.names import key_of
from sluice.pools.period import acquisition as taking_over
from sluice.pools.v1.log_pb2 import ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import STATE_DELETED
from sluice_kit.decide.fakes import CART, DB, FakeClock, FakeCollector, FakeService, config, hump
from sluice_kit.decide.worlds import World, brief, codes
from sluice_kit.journal.memory_log import MemoryLog, pool_shard


def test_a_kill_in_a_trial_goes_on_with_the_trial() -> None:
    one = World()
    one.collector.services[CART] = FakeService(64)
    one.run(7)
    other = World(clock=one.clock, collector=one.collector, log=one.log)
    after = other.run(3)[-1]
    assert other.decider.states[CART].facts.change is not None
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
    other = World(clock=one.clock, collector=one.collector, log=one.log)
    one.collector.asked_ms.clear()
    other.log.size(CART, service.size, other.clock())
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


def test_a_restart_goes_on_with_the_revisions_of_the_last_run() -> None:
    before = World()
    before.collector.pools[CART] = hump()
    last = before.step()
    after = World(log=before.log)
    after.collector.pools[CART] = hump()
    assert brief(after.step()) == brief(last)
    after.collector.pools[CART] = None
    assert brief(after.step()) == ("NO_DATA", None, last.revision + 1)


def test_a_pause_outlives_every_restart() -> None:
    world = World()
    world.collector.pools[CART] = hump()
    world.step()
    world.log.pause(CART, Pause(1, "ada", "release"))
    assert brief(world.step())[:2] == ("PAUSED", None)
    for _ in range(2):
        world = World(log=world.log)
        world.collector.pools[CART] = hump()
        assert brief(world.step())[:2] == ("PAUSED", None)
        assert "ada: release" in world.cart.reasons[0].text
    world.log.resume(CART)
    assert brief(world.step())[0] == "PROVIDED"
    assert "PAUSED" not in codes(World(log=world.log, collector=world.collector).step())


def test_a_pause_that_was_told_while_nobody_decided_counts() -> None:
    world = World()
    world.collector.pools[CART] = hump()
    world.step()
    world.log.pause(CART, Pause(1, "ada", "release"))
    after = World(log=world.log, collector=world.collector)
    assert brief(after.step())[:2] == ("PAUSED", None)


def test_what_scaling_told_outlives_a_restart() -> None:
    world = World()
    world.log.scaling(Scaling(5_000, "cart", 2.0, 3, "v2", "vpa"))
    world.step()
    assert world.cart.deployments.own.cores == 2.0
    after = World(log=world.log, collector=world.collector)
    after.step()
    # The helper tells 4 cores since 0 again; what was told since 5 s holds.
    assert (after.cart.deployments.own.cores, after.cart.deployments.own.version) == (2.0, "v2")


def test_sizes_that_were_read_back_before_are_known_at_once() -> None:
    world = World()
    world.log.size(CART, 64, world.clock(), "a")
    world.step(1)
    after = World(log=world.log, clock=world.clock, collector=world.collector)
    assert after.step(1).content.current == 64


def test_nothing_is_decided_from_windows_of_before_while_newer_ones_are_to_come() -> None:
    """All was stopped for a minute; the pipeline has not brought yet what came since."""
    one = World()
    service = one.collector.services[CART] = FakeService(64)
    one.run(5)
    last = one.publication()
    assert last.action == ACTION_APPLY
    one.clock.pass_s(60)
    other = World(clock=one.clock, collector=one.collector, log=one.log)
    for _ in range(10):
        other.log.size(CART, 64, other.clock())
        other.clock.pass_s(1)
        other.loop.periods()
        assert CART not in other.decider.answers
        (standing,) = (each for each in other.heartbeat().not_renewed if each.pool.service == "cart")
        assert standing.valid_until.ToMilliseconds() <= one.clock() - 30_000 - 60_000 + 61_000
    assert other.publication() == last
    service.works(other.clock() - 3_000, other.clock())
    other.step(1)
    assert other.cart.computed_at_ms == other.clock()
    assert [each.pool.service for each in other.heartbeat().not_renewed] == []


def test_a_decider_that_takes_over_from_one_that_was_killed_goes_on_at_once() -> None:
    one = World()
    service = one.collector.services[CART] = FakeService(64)
    one.run(70)
    service.works(one.clock(), one.clock() + 10_000)
    one.clock.pass_s(10)
    other = World(clock=one.clock, collector=one.collector, log=one.log)
    assert other.step(0).computed_at_ms == other.clock()


def test_a_new_pool_waits_for_windows_of_now_and_says_so() -> None:
    """Rows from before, and no state: as where the journal is a new one."""
    world = World()
    service = world.collector.services[CART] = FakeService(64)
    service.works(world.clock() - 60_000, world.clock() - 20_000)
    world.log.size(CART, 64, world.clock())
    assert (brief(world.step(1)), codes(world.cart)) == (("LEARNING", None, 1), ("AWAITED",))
    assert world.cart.content.action == "HOLD"
    assert world.step(1).revision == 1
    service.works(world.clock(), world.clock() + 2_000)
    assert codes(world.step(4)) != ("AWAITED",)


def test_a_service_whose_clock_is_behind_is_decided_once_its_windows_come_as_time_passes() -> None:
    world = World()
    service = world.collector.services[CART] = FakeService(64)
    behind_ms = 600_000
    decided = []
    for _ in range(20):
        service.works(world.clock() - behind_ms, world.clock() - behind_ms + 1_000)
        world.log.size(CART, 64, world.clock())
        decided.append(codes(world.step(1)) != ("AWAITED",))
    assert decided == sorted(decided)
    assert not decided[3]
    assert decided[8]


def test_a_pool_that_leaves_the_configuration_is_deleted_under_its_revision_and_comes_back_under_the_next() -> None:
    world = World()
    world.step()
    revision = world.cart.revision
    pools = world.loop.config.pools
    world.configure(config(pools=pools[1:]))
    world.clock.pass_s(5)
    world.loop.periods()
    assert list(world.decider.answers) == [DB]
    gone = world.publication()
    assert (gone.state, gone.revision, gone.HasField("target")) == (STATE_DELETED, revision, False)
    after = World(log=world.log)
    assert brief(after.step())[2] == revision + 1


def test_of_many_pools_half_are_taken_over_in_the_first_period_and_the_answers_of_the_others_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that is paused is not kept waiting."""
    monkeypatch.setattr(taking_over, "FEWEST", 1)
    keys = [PoolKey(f"s-{number}", "server", "") for number in range(12)]
    pools = [{"service": key.service, "side": "server", "threshold": "1s"} for key in keys]
    given, log, clock = Config.model_validate({"pools": pools}), MemoryLog(), FakeClock()
    collector = FakeCollector(pools=dict.fromkeys(keys, hump()))
    log.loop(given, collector, clock).periods()
    log.pause(keys[-1], Pause(1, "ada", "release"))
    clock.pass_s(5)
    loop = log.loop(given, collector, clock)

    def not_renewed() -> list[PoolKey]:
        beat = ShardHeartbeat.FromString(log.committed(log.topics.decisions)["shard/0"])
        return [key_of(each.pool) for each in beat.not_renewed]

    loop.periods()
    answers = pool_shard(loop).answers
    assert sorted(answers) == sorted([*keys[:6], keys[-1]])
    assert answers[keys[-1]].content.state == "PAUSED"
    assert sorted(not_renewed()) == sorted(keys[6:-1])
    clock.pass_s(5)
    loop.periods()
    assert pool_shard(loop).answers.keys() == set(keys)
    assert {pool_shard(loop).answers[key].revision for key in keys[:-1]} == {1}
    assert not_renewed() == []
