"""Deciders on a real Kafka: killed within a transaction, stopped until another has the shard. What they wrote is whole,
and of one that lost its shard nothing counts."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from sluice_kit.programs.deciders import Decider, Scene
from sluice_kit.servers.kafka import Kafka, kafka
from sluice_kit.waiting import until


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture
def scene(broker: Kafka) -> Iterator[Scene]:
    scene = Scene(broker)
    with scene.playing():
        yield scene


def held(decider: Decider) -> int:
    """Its shard, in which it is within a transaction now."""
    decider.word()
    until("it is within a transaction", lambda: bool(decider.of("held")))
    return int(decider.of("held")[-1][1]["shard"])


def goes_on(scene: Scene, decider: Decider, shard: int, since: float) -> None:
    def committed() -> bool:
        return any(one["shard"] == shard for _, one in decider.of("committed", since))

    until("the other one decides for its shard", committed)
    at = min(at for at, one in decider.of("committed", since) if one["shard"] == shard)
    print(f"taken over after {at - since:.1f} s")


def test_killed_within_a_transaction(scene: Scene) -> None:
    one, two = scene.shared_out()
    shard = held(one)
    killed = time.monotonic()
    one.process.kill()
    goes_on(scene, two, shard, killed)
    scene.check()


@pytest.mark.parametrize("where", ["within a transaction", "between"])
def test_stopped_until_another_has_its_shard(scene: Scene, where: str) -> None:
    one, two = scene.shared_out()
    shard = held(one) if where == "within a transaction" else next(iter(one.owned()))
    stopped = time.monotonic()
    os.kill(one.process.pid, signal.SIGSTOP)
    goes_on(scene, two, shard, stopped)
    woken = time.monotonic()
    os.kill(one.process.pid, signal.SIGCONT)
    if where == "within a transaction":
        one.word()
        until("what it held is refused", lambda: bool(one.of("FencedError", woken)))
        assert one.of("FencedError", woken)[0][1]["shard"] == shard
    until("each has a shard again", lambda: len(one.of("committed", woken)) > 10 and len(two.owned()) == 1)
    scene.check()


def test_a_period_that_hangs_gives_the_shard_up(scene: Scene) -> None:
    """The process lives, and the client tells the group so: it is put out for the period that does not end."""
    one, two = scene.shared_out()
    shard = held(one)
    hung = time.monotonic()
    goes_on(scene, two, shard, hung)
    woken = time.monotonic()
    one.word()
    until("what it held is refused", lambda: bool(one.of("FencedError", woken)))
    until("each has a shard again", lambda: len(one.of("committed", woken)) > 10 and len(two.owned()) == 1)
    scene.check()


def test_a_broker_that_stands_still(scene: Scene, broker: Kafka) -> None:
    """Nobody knows what became of what was being committed: both give their shards up, and read what is true."""
    one, two = scene.shared_out()
    os.kill(broker.process.pid, signal.SIGSTOP)
    try:
        until(
            "both gave up", lambda: all(decider.of("HungError") or decider.of("FencedError") for decider in (one, two))
        )
    finally:
        os.kill(broker.process.pid, signal.SIGCONT)
    back = time.monotonic()
    until("each decides again", lambda: all(len(decider.of("committed", back)) > 10 for decider in (one, two)))
    scene.check()
