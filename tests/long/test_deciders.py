"""Deciders on a real Kafka: killed within a transaction, stopped until another has the shard. What they wrote is whole,
and of one that lost its shard nothing counts."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

import counting
from log_place import SHARDS, SHOP, Place
from sluice.log.kafka_broker import KafkaBroker
from sluice.log.names import topics
from sluice.pools.policy.state_message import read_facts
from sluice.pools.v1.pool_size_pb2 import PoolSize
from support.kafka import Kafka, kafka
from support.waiting import until

HELPERS = Path(counting.__file__).parent
SOURCE = HELPERS.parents[1] / "src"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running


class Decider:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[tuple[float, dict[str, Any]]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.said.append((time.monotonic(), json.loads(line)))

    def of(self, what: str, since: float = 0.0) -> list[tuple[float, dict[str, Any]]]:
        return [(at, one) for at, one in list(self.said) if one["what"] == what and at >= since]

    def word(self) -> None:
        """Holds the next commit; or lets it go on."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def owned(self) -> set[int]:
        mine: set[int] = set()
        for _, one in list(self.said):
            if one["what"] == "committed":
                mine.add(one["shard"])
            elif one["what"] in ("left", "FencedError", "HungError"):
                mine.discard(one["shard"])
        return mine


class Scene:
    """Deciders, and reports that come all the while."""

    def __init__(self, broker: Kafka) -> None:
        self.bootstrap, self.prefix = broker.bootstrap, f"{uuid.uuid4().hex[:8]}_"
        broker.log(self.prefix, SHARDS)
        names = topics(self.prefix)
        self._producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0})
        self.place = Place(names, lambda: KafkaBroker(self.bootstrap, names), self._put, [])
        self.deciders: list[Decider] = []
        self.reported = 0
        self._over = threading.Event()
        self._reports = threading.Thread(target=self._report)

    @contextmanager
    def playing(self) -> Iterator[None]:
        self._reports.start()
        try:
            yield
        finally:
            self._over.set()
            self._reports.join()
            for decider in self.deciders:
                decider.process.kill()
                decider.process.wait()

    def decider(self) -> Decider:
        command = [sys.executable, counting.__file__, self.bootstrap, self.prefix]
        variables = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (SOURCE, HELPERS)))}
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables)
        self.deciders.append(Decider(process))
        return self.deciders[-1]

    def shared_out(self) -> tuple[Decider, Decider]:
        """Two deciders with a shard each."""
        one, two = self.decider(), self.decider()
        until("each has a shard", lambda: len(one.owned()) == 1 and len(two.owned()) == 1)
        return one, two

    def check(self) -> None:
        """When all reports are used: what the log holds, and whether that is what deciders were told."""
        self._over.set()
        self._reports.join()
        until("all reports are used", lambda: all(self._state(shard)[1] == self.reported for shard in range(SHARDS)))
        for decider in self.deciders:
            decider.process.kill()
        for shard in range(SHARDS):
            records = self.place.committed(self.place.topics.decisions, shard)
            sizes = [PoolSize.FromString(each.value or b"") for each in records if each.key.startswith("pool/")]
            assert [size.revision for size in sizes] == list(range(1, 1 + len(sizes)))
            assert [each.key for each in records[1::2]] == [f"shard/{shard}"] * len(sizes)
            content = {size.revision: size.target for size in sizes}
            told = [one for decider in self.deciders for _, one in decider.of("committed") if one["shard"] == shard]
            for one in told:
                assert content[one["revision"]] == one["target"]
            assert self._state(shard) == (len(sizes), self.reported)
        for _, one in itertools.chain(*(decider.of("taken") for decider in self.deciders)):
            assert one["state"] == one["revision"]

    def _state(self, shard: int) -> tuple[int, int]:
        """The revision and the number of reports that it says."""
        records = self.place.committed(self.place.topics.state, shard)
        facts = read_facts(SHOP, records[-1].value or b"")
        return facts.now_ms, (facts.current or 0) - 1

    def _report(self) -> None:
        while not self._over.wait(0.05):
            for shard in range(SHARDS):
                self.place.report(shard, str(self.reported))
            self.reported += 1

    def _put(self, topic: str, shard: int, key: str, value: bytes) -> None:
        self._producer.produce(topic, value, key, partition=shard)
        assert self._producer.flush(60) == 0


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
        until("both gave up", lambda: all(each.of("HungError") or each.of("FencedError") for each in (one, two)))
    finally:
        os.kill(broker.process.pid, signal.SIGCONT)
    back = time.monotonic()
    until("each decides again", lambda: all(len(each.of("committed", back)) > 10 for each in (one, two)))
    scene.check()
