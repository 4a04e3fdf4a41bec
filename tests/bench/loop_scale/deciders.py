"""One decider after the other on a journal of a real broker, with what each part of the newest period took."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import uuid4

from confluent_kafka import Producer

from bench.loop_scale.queried import Queried
from bench.loop_scale.windows import NOW_MS, Collects, Drawn
from sluice.config import Config
from sluice.decider.products import codec, products
from sluice.engine.loop import Loop
from sluice.engine.records import Commit, Heartbeat
from sluice.journal.kafka_broker import KafkaBroker
from sluice.journal.names import topics
from sluice.journal.shard import Identity
from sluice.journal.shards import Shards
from sluice.model.times import timestamp
from sluice.pools.commit import PoolsCommit
from sluice.pools.discovery.room import MemoryRoom
from sluice.pools.names import message_of, pool_name
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.spread import Spread
from sluice.pools.pool_step import PoolStep
from sluice.pools.publication.record import Part, Ref
from sluice.pools.v1.log_pb2 import ObservedSize
from sluice.pools.v1.pool_size_pb2 import TargetSize
from sluice_kit.journal.memory_log import pool_shard
from sluice_kit.servers.kafka import Kafka
from sluice_kit.waiting import until

PARTS: tuple[Part, ...] = ("facts", "evidence")


class Watched(Spread):
    """observing_s: making steps; stepping_s: handing them over, and waiting for what becomes of them."""

    observing_s, stepping_s = 0.0, 0.0

    def run(self, steps: Iterable[PoolStep], pools: int) -> Iterator[PoolStep]:
        self.observing_s = self.stepping_s = 0.0
        outcomes = super().run(self._made(steps), pools)
        while True:
            begun, observed_s = time.perf_counter(), self.observing_s
            result = next(outcomes, None)
            self.stepping_s += time.perf_counter() - begun - (self.observing_s - observed_s)
            if result is None:
                return
            yield result

    def _made(self, steps: Iterable[PoolStep]) -> Iterator[PoolStep]:
        made = iter(steps)
        while True:
            begun = time.perf_counter()
            pool_step = next(made, None)
            self.observing_s += time.perf_counter() - begun
            if pool_step is None:
                return
            yield pool_step


class Deciders:
    """committing_s: of the newest period."""

    def __init__(self, broker: Kafka, config: Config, drawn: list[Drawn], declared: Config | None = None) -> None:
        """config: with all pools. declared: the deciders' own; None: the same."""
        self._topics = topics(f"{uuid4().hex[:8]}_")
        broker.log(self._topics.state.removesuffix("state"), 1)
        self._bootstrap, self._config = broker.bootstrap, declared or config
        self._sizes = [(pool_name(pool.key, "target/"), pool.key, drawn[i % len(drawn)].size)
                       for i, pool in enumerate(config.pools)]  # fmt: skip
        self._server = Producer({"bootstrap.servers": broker.bootstrap, "queue.buffering.max.messages": 1_000_000})
        self.now_ms, self.committing_s = NOW_MS, 0.0

    @contextmanager
    def one(self, collector: Collects, spread: Spread, room: MemoryRoom | None = None) -> Iterator[Loop]:
        client = KafkaBroker(self._bootstrap, self._topics)
        shards = Shards(client, self._topics, Identity("bench", 1, 0), codec())
        pools = PoolResources(spread=spread, alive=shards.alive, room=room or MemoryRoom())
        loop = Loop(self._config, shards, products(lambda: collector, pools), lambda: self.now_ms, pools.problems)
        if isinstance(collector, Queried):
            collector.database.answered = shards.alive
        until("it has the shard", lambda: loop.own(0.1) or bool(loop.owned))
        log = shards.owned[0]
        commit = log.commit

        def timed(what: Commit) -> bool:
            begun = time.perf_counter()
            written = commit(what)
            self.committing_s = time.perf_counter() - begun
            return written

        log.commit = timed  # type: ignore[method-assign]
        yield loop
        shards.close()
        client.close()

    def observe(self, loop: Loop) -> None:
        """Sizes of all pools, as actuators report them."""
        for name, key, size in self._sizes:
            read = TargetSize(instance="instance-1", size=size, read_at=timestamp(self.now_ms))
            observed = ObservedSize(pool=message_of(key), size=read)
            self._server.produce(self._topics.observed, observed.SerializeToString(), f"{name}/instance-1", partition=0)
            self._server.poll(0)
        self._server.flush()
        log = loop.shards.owned[0]
        until("all sizes came", lambda: len(log.received(0.2).observed) == len(self._sizes))

    def record(self, loop: Loop) -> None:
        """All states at once, which are else spread over a minute."""
        log, decider = loop.shards.owned[0], pool_shard(loop)
        states = {Ref(part, key): state for key, state in decider.states.items() for part in PARTS}
        log.commit(Commit(log.received(), Heartbeat(self.now_ms, 30_000), {"pools": PoolsCommit(states=states)}))
