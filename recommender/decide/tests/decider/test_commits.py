"""What becomes of a commit, and what the decider then goes on with; which shards are whose."""

from __future__ import annotations

import pytest

from sluice.config import Config
from sluice.journal.shard import AbortedError, HungError
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.pools.v1.pool_size_pb2 import STATE_PAUSED
from sluice.pools.windows import Window
from sluice_kit.decide.fakes import CART, DB, FakeClock, FakeCollector, FakeService, config, hump
from sluice_kit.decide.worlds import World, brief
from sluice_kit.journal.memory_broker import MemoryBroker
from sluice_kit.journal.memory_group import MemoryGroup
from sluice_kit.journal.memory_log import MemoryLog, pool_shard


class Faulty:
    """Raises at a call of the broker, once."""

    def __init__(self) -> None:
        self.raises: tuple[str, Exception] | None = None

    def __call__(self, call: str) -> None:
        if self.raises is not None and self.raises[0] == call:
            (_, problem), self.raises = self.raises, None
            raise problem


def faulty(world: World) -> Faulty:
    broker = world.loop.shards.membership.broker
    assert isinstance(broker, MemoryBroker)
    broker.called = Faulty()
    return broker.called


def test_an_aborted_commit_leaves_all_as_it_was_and_what_was_due_is_due_again() -> None:
    world = World()
    service = world.collector.services[CART] = FakeService(64)
    world.run(10)
    said, states, answers = world.publication(), dict(world.decider.states), dict(world.decider.answers)
    fault = faulty(world)
    service.works(world.clock(), world.clock() + 1_000)
    world.log.pause(CART, Pause(1, "ada", "release"))
    fault.raises = "send_offset", AbortedError("a new generation of the group")
    world.clock.pass_s(1)
    world.loop.periods()
    assert fault.raises is None
    assert (world.publication(), dict(world.decider.states), world.decider.answers) == (said, states, answers)
    assert "pause/cart/server/" not in world.log.committed(world.log.topics.state)

    world.step(1)
    assert world.publication().state == STATE_PAUSED
    assert "pause/cart/server/" in world.log.committed(world.log.topics.state)
    after = World(log=world.log, clock=world.clock, collector=world.collector)
    assert after.decider.states[CART].facts == world.decider.states[CART].facts


def test_a_commit_of_which_nobody_knows_gives_the_shard_up_and_it_is_taken_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    world.collector.pools[CART] = hump()
    first = world.step()
    fault = faulty(world)
    fault.raises = "answer", HungError("no answer within 10 s")
    world.collector.pools[CART] = None
    world.clock.pass_s(5)
    world.loop.periods()
    assert not world.loop.owned
    assert "gave up shard 0: HungError" in caplog.text
    world.clock.pass_s(5)
    world.loop.own()
    # It was committed: the revision is in the journal, and goes on from there.
    assert world.publication().revision == first.revision + 1
    assert brief(world.step()) == ("NO_DATA", None, first.revision + 1)


def test_one_whose_shard_another_took_leaves_it() -> None:
    one = World()
    one.step()
    other = World(log=one.log)
    before = other.step(5).revision
    one.loop.periods()
    assert not one.loop.owned
    assert other.step(5).revision == before


def test_an_unchanged_answer_is_written_once_a_minute_and_a_heartbeat_in_between() -> None:
    world = World()
    for _ in range(300):
        world.step(1)
    records = world.log.cluster.partitions[world.log.topics.decisions, 0].committed(0)
    written = [record for record in records if record.key == "pool/cart/server/"]
    assert 5 <= len(written) <= 7
    assert {each.revision for each in [world.publication()]} == {1}


def test_each_explanation_is_of_a_new_answer_or_a_minute_old(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    monkeypatch.setattr("sluice.pools.publication.publisher.MOST_EXPLANATIONS", 1)
    world.step(1)
    explained = world.log.committed(world.log.topics.explanations)
    assert len(explained) == 1  # the other one in the next period
    world.step(1)
    explained = world.log.committed(world.log.topics.explanations)
    assert len(explained) == 2
    world.step(1)
    assert len(world.log.cluster.partitions[world.log.topics.explanations, 0].committed(0)) == 2


def test_an_answer_whose_decision_failed_is_not_renewed_and_its_lease_stands() -> None:
    world = World()
    world.collector.services = {CART: FakeService(64), DB: FakeService(16)}
    world.log.size(DB, 16, world.clock())
    world.collector.services[DB].works(world.clock(), world.clock() + 5_000)
    world.run(8)
    before = world.heartbeat()
    assert not before.not_renewed
    world.collector.services[DB].completions.clear()
    for _ in range(8):
        world.clock.pass_s(5)
        world.loop.periods()
    beat = world.heartbeat()
    (standing,) = beat.not_renewed
    assert (standing.pool.service, standing.pool.peer) == ("catalogue", "catalogue-db")
    given_ms = before.computed_at.ToMilliseconds() + before.lease.ToMilliseconds()
    # The heartbeats since the last that confirmed it were every 5 s or so.
    assert 0 <= standing.valid_until.ToMilliseconds() - given_ms <= 10_000
    assert beat.computed_at.ToMilliseconds() > given_ms


def grouped(generation: int = 0) -> Config:
    """Cart in the one group, the database in the other."""
    pools = [
        pool.model_copy(update={"group": group}) for pool, group in zip(config().pools, ("shop", "data"), strict=True)
    ]
    return config(groups=["shop", "data"], pools=pools, generation=generation)


def test_deciders_share_the_groups_and_the_one_that_is_left_has_all() -> None:
    log, clock = MemoryLog(shards=2), FakeClock()
    one, other = (log.loop(grouped(), FakeCollector(), clock, alone=False) for _ in range(2))
    for _ in range(8):
        for loop in (one, other):
            loop.periods()
    decided = [sorted(key for shard in loop.owned for key in pool_shard(loop, shard).answers) for loop in (one, other)]
    assert sorted(decided) == [[CART], [DB]]
    other.shards.close()
    for _ in range(4):
        one.periods()
    assert sorted(one.owned) == [0, 1]
    assert {key for shard in one.owned for key in pool_shard(one, shard).answers} == {CART, DB}


def test_a_newer_configuration_takes_the_shards_from_older_ones() -> None:
    log, clock = MemoryLog(shards=2), FakeClock()
    old = log.loop(grouped(1), FakeCollector(), clock)
    for _ in range(3):
        old.periods()
    new = log.loop(grouped(2), FakeCollector(), clock)
    for _ in range(3):
        new.periods()
    assert sorted(new.owned) == [0, 1]
    for _ in range(3):
        old.periods()
    assert not old.owned
    old.next_config = grouped(2)
    for _ in range(4):
        old.periods()
        new.periods()
    assert sorted([*old.owned, *new.owned]) == [0, 1]


def test_a_period_that_takes_long_tells_the_group_that_it_gets_on_and_one_that_hangs_does_not() -> None:
    """The group takes the shards of who does not poll for 45 s; a first period of 10,000 pools takes longer."""
    world = World()
    calls: list[str] = []
    broker = world.loop.shards.membership.broker
    assert isinstance(broker, MemoryBroker)
    broker.called = calls.append
    group = world.loop.shards._group
    assert isinstance(group, MemoryGroup)
    group._called = calls.append
    world.resources.alive = world.loop.shards.alive

    class Slow(FakeCollector):
        def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window:
            calls.append("reads")
            world.clock.pass_s(30)
            calls.append("has read")
            return super().collect(config, thresholds_ns, now_ms, live)

    world.decider._collector = Slow()
    world.clock.pass_s(5)
    world.loop.periods()
    assert "poll" not in calls[calls.index("reads") : calls.index("has read")]
    assert "poll" in calls[calls.index("has read") : calls.index("commit")]
