"""Deciders as processes on a real Kafka (`journal/counting.py`), and reports that come to them all the while."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Producer

from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.names import topics
from sluice.pools.policy.state_message import read_facts
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice_kit.journal.place import POOLS, SHARDS, Place
from sluice_kit.servers.kafka import Broker
from sluice_kit.waiting import until
from stack.settings import REPOSITORY

KIT = REPOSITORY / "tests/kit"
SOURCE = REPOSITORY / "recommender/decide/src"


class Decider:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.events: list[tuple[float, dict[str, Any]]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.events.append((time.monotonic(), json.loads(line)))

    def of(self, what: str, since: float = 0.0) -> list[tuple[float, dict[str, Any]]]:
        return [(at, event) for at, event in list(self.events) if event["what"] == what and at >= since]

    def word(self) -> None:
        """Holds the next commit; or lets it go on."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def owned(self) -> set[int]:
        mine: set[int] = set()
        for _, event in list(self.events):
            if event["what"] == "committed":
                mine.add(event["shard"])
            elif event["what"] in ("left", "FencedError", "HungError"):
                mine.discard(event["shard"])
        return mine


class Scene:
    """Deciders, and reports that come all the while."""

    shards = SHARDS

    def __init__(self, broker: Broker, lease_ms: int = 60_000) -> None:
        self.bootstrap, self.prefix = broker.bootstrap, f"{uuid.uuid4().hex[:8]}_"
        broker.log(self.prefix, SHARDS)
        names = topics(self.prefix)
        self._producer = Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0, "enable.idempotence": True})
        self.place = Place(names, lambda: KafkaBroker(self.bootstrap, names), self._put, [])
        self._lease_ms = lease_ms
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
        command = [
            sys.executable,
            "-m",
            "sluice_kit.journal.counting",
            self.bootstrap,
            self.prefix,
            str(self._lease_ms),
        ]
        variables = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (SOURCE, KIT)))}
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables)
        self.deciders.append(Decider(process))
        return self.deciders[-1]

    def shared_out(self) -> tuple[Decider, Decider]:
        """Two deciders with a shard each."""
        one, two = self.decider(), self.decider()
        until("each has a shard", lambda: len(one.owned()) == 1 and len(two.owned()) == 1)
        return one, two

    def check(self) -> dict[tuple[str, int], int]:
        """When all reports are used: whether the journal holds what deciders were told. Its target of every service and
        revision."""
        targets: dict[tuple[str, int], int] = {}
        self._over.set()
        self._reports.join()
        until("all reports are used", lambda: all(self._state(shard)[1] == self.reported for shard in range(SHARDS)))
        for decider in self.deciders:
            decider.process.kill()
        for shard in range(SHARDS):
            records = self.place.committed(self.place.topics.decisions, shard)
            sizes = [PoolSize.FromString(record.value or b"") for record in records if record.key.startswith("pool/")]
            assert [size.revision for size in sizes] == list(range(1, 1 + len(sizes)))
            assert [record.key for record in records[1::2]] == [f"shard/{shard}"] * len(sizes)
            content = {size.revision: size.target for size in sizes}
            targets |= {(POOLS[shard].service, revision): target for revision, target in content.items()}
            committed = [
                event for decider in self.deciders for _, event in decider.of("committed") if event["shard"] == shard
            ]
            for event in committed:
                assert content[event["revision"]] == event["target"]
            assert self._state(shard) == (len(sizes), self.reported)
        for _, event in itertools.chain(*(decider.of("taken") for decider in self.deciders)):
            assert event["state"] == event["revision"]
        return targets

    def _state(self, shard: int) -> tuple[int, int]:
        """The revision and the number of reports that it says."""
        records = self.place.committed(self.place.topics.state, shard)
        facts = read_facts(POOLS[shard], records[-1].value or b"")
        return facts.now_ms, (facts.current or 0) - 1

    def _report(self) -> None:
        while not self._over.wait(0.05):
            for shard in range(SHARDS):
                self.place.report(shard, str(self.reported))
            self.reported += 1

    def _put(self, topic: str, shard: int, key: str, value: bytes) -> None:
        self._producer.produce(topic, value, key, partition=shard)
        assert self._producer.flush(60) == 0
