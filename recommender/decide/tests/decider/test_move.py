"""Pools that go to another group: with all that is known of them, whenever the move is killed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sluice.config import Config
from sluice.decider.move import MoveError, check, move
from sluice.engine.loop import Loop
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.pools.moving import Move
from sluice.pools.names import pool_name
from sluice.pools.v1.pool_size_pb2 import STATE_PAUSED, PoolSize
from sluice.subsets.section import Subsetting
from sluice_kit.decide.fakes import CART, FakeClock, FakeCollector, FakeService, config
from sluice_kit.journal.memory_broker import MemoryBroker
from sluice_kit.journal.memory_log import MemoryLog, pool_shard


def grouped(cart: str, data: str, generation: int) -> Config:
    pools = [pool.model_copy(update={"group": group}) for pool, group in zip(config().pools, (cart, data), strict=True)]
    return config(groups=["shop", "data"], pools=pools, generation=generation)


# A backend or path across groups is not legal, so the fakes' two pools are apart.
OLD, NEW = grouped("shop", "data", 1), grouped("data", "data", 2)


def subsetting(group: str, generation: int) -> Config:
    subsets = [Subsetting.model_validate({"name": "shop", "group": group})]
    return grouped("shop", "data", generation).model_copy(update={"subsets": subsets})


class Killed(BaseException):
    pass


class Scene:
    """Two groups, a pool in each; cart was decided for a while."""

    def __init__(self) -> None:
        self.log, self.clock, self.collector = MemoryLog(shards=2), FakeClock(), FakeCollector()
        self.service = self.collector.services[CART] = FakeService(64)

    def loop(self, config: Config) -> Loop:
        loop = self.log.loop(config, self.collector, self.clock)
        while len(loop.owned) < 2:
            loop.periods()
        return loop

    def run(self, loop: Loop, seconds: int, shard: int) -> None:
        for _ in range(seconds):
            self.log.size(CART, self.service.size, self.clock(), shard=shard)
            loop.hear()
            self.service.works(self.clock(), self.clock() + 1_000)
            self.clock.pass_s(1)
            loop.periods()

    def moved(self, called: Callable[[str], None] = lambda call: None) -> list[Move]:
        broker = MemoryBroker(self.log.cluster, called)
        return move(NEW, broker, self.log.topics, lambda s: None, lambda: self.clock() / 1e3)

    def said(self, key: PoolKey) -> dict[int, PoolSize]:
        """By shard the newest answer; none of one that is gone."""
        found = {}
        for shard in range(2):
            for name, value in self.log.committed(self.log.topics.decisions, shard).items():
                if name == pool_name(key):
                    found[shard] = PoolSize.FromString(value)
        return found


@pytest.fixture
def scene() -> Scene:
    scene = Scene()
    loop = scene.loop(OLD)
    scene.run(loop, 20, shard=0)
    scene.log.scaling(Scaling(scene.clock(), CART.service, 2.0, None, "", "vpa"))
    scene.run(loop, 5, shard=0)
    loop.shards.close()
    # Told while no decider runs.
    scene.log.pause(CART, Pause(scene.clock(), "ada", "a move"))
    return scene


def check_moved(scene: Scene, before: PoolSize) -> None:
    assert scene.said(CART) == {1: before}
    left = [name for shard_topic in scene.log.topics for name in scene.log.committed(shard_topic, 0) if "cart" in name]
    assert [name for name in left if not name.startswith(("pool/", "service/", "scaling/"))] == []
    after = scene.loop(NEW)
    decider = pool_shard(after, 1)
    assert decider._operator_inputs.pauses[CART].by == "ada"
    assert decider._operator_inputs.scalings.course(CART).now.own.cores == 2.0
    scene.run(after, 3, shard=1)
    (answer,) = scene.said(CART).values()
    assert (answer.state, answer.revision) == (STATE_PAUSED, before.revision + 1)
    assert answer.current == before.current


def test_all_that_is_known_of_a_pool_goes_with_it_and_nothing_is_done_twice(scene: Scene) -> None:
    (before,) = scene.said(CART).values()
    facts = scene.log.committed(scene.log.topics.state, 0)
    assert scene.moved() == [Move(CART, 0, 1, False)]
    moved = scene.log.committed(scene.log.topics.state, 1)
    assert {name: moved[name] for name in facts if name.startswith("facts/cart")} == {
        name: each for name, each in facts.items() if name.startswith("facts/cart")
    }
    ends = {name: scene.log.cluster.partitions[name, 1].end for name in scene.log.topics}
    assert scene.moved() == []
    assert {name: scene.log.cluster.partitions[name, 1].end for name in scene.log.topics} == ends
    check_moved(scene, before)


@pytest.mark.parametrize("calls", range(1, 60, 3))
def test_killed_at_any_call_it_is_done_again(scene: Scene, calls: int) -> None:
    (before,) = scene.said(CART).values()
    left = [calls]

    def kill(call: str) -> None:
        left[0] -= 1
        if left[0] <= 0:
            raise Killed

    try:
        scene.moved(kill)
    except Killed:
        assert {each.revision for each in scene.said(CART).values()} == {before.revision}
    for member in list(scene.log.cluster.members._members):
        scene.log.cluster.members.leave(member)
    scene.moved()
    check_moved(scene, before)


def test_it_is_refused_while_a_decider_runs_and_moves_nothing(scene: Scene) -> None:
    before = scene.said(CART)
    loop = scene.loop(OLD)
    with pytest.raises(MoveError, match="1 deciders own the shards; end them first"):
        scene.moved()
    assert scene.said(CART).keys() == before.keys()
    assert len(loop.owned) == 2


def test_a_pool_of_which_the_other_shard_has_the_newer_answer_stays_there(scene: Scene) -> None:
    """Deciders ran by the new file without a move: it began anew there, and is deleted here."""
    loop = scene.loop(NEW)
    scene.run(loop, 5, shard=1)
    loop.shards.close()
    live = scene.said(CART)[1]
    assert scene.moved() == [Move(CART, 0, 1, True)]
    assert scene.said(CART) == {1: live}


def test_no_lease_is_lengthened(scene: Scene) -> None:
    loop = scene.loop(OLD)
    scene.run(loop, 5, shard=0)
    loop.shards.close()

    def until_ms(shard: int) -> int:
        beat = scene.log.heartbeat(shard)
        return beat.computed_at.ToMilliseconds() + beat.lease.ToMilliseconds()

    before = [until_ms(shard) for shard in range(2)]
    scene.clock.pass_s(10)
    scene.moved()
    beats = [scene.log.heartbeat(shard) for shard in range(2)]
    assert [beat.lease.ToMilliseconds() for beat in beats] == [each - scene.clock() for each in before]
    assert [each.pool.service for each in beats[1].not_renewed] == ["cart"]
    assert beats[1].not_renewed[0].valid_until.ToMilliseconds() == before[0]


@pytest.mark.parametrize(
    ("new", "says"),
    [
        (grouped("data", "data", 1), "legal: more than 1"),
        (config(generation=2), "legal: 2 or more"),
        (subsetting("data", 2), "subsets of shop cannot change their group"),
    ],
)
def test_files_by_which_two_could_decide_the_same_pool_are_refused(new: Config, says: str) -> None:
    with pytest.raises(MoveError, match=says):
        check(subsetting("shop", 1), new)
