"""A log for tests, in memory or on a real broker, and what a test has to say and ask of it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import NamedTuple

from sluice.decider.products import codec
from sluice.engine.codec import DeciderLog, DeciderShards
from sluice.engine.records import Commit, Heartbeat, Received, ShardValues
from sluice.journal.broker import Broker, Record, Transactions
from sluice.journal.names import Topics
from sluice.journal.shard import Identity
from sluice.model.keys import PoolKey
from sluice.pools.commit import PoolRecords, PoolsCommit
from sluice.pools.names import pool_name
from sluice.pools.policy.state import Facts, PoolState
from sluice.pools.publication.record import Ref
from sluice.pools.v1.log_pb2 import ObservedSize, Pause, Report
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import PoolSize, TargetSize

SHARDS = 2
SHOP, CART = PoolKey("shop", "server", ""), PoolKey("cart/eu", "server", "")
#: One of each shard.
POOLS = (SHOP, CART)
# Nothing waits for so long but on a machine that stands still.
WAIT_S = 60.0


class Place(NamedTuple):
    """broker: a new client of it. put: a record of a server's. A test closes what it opens by `close`."""

    topics: Topics
    broker: Callable[[], Broker]
    put: Callable[[str, int, str, bytes], None]
    opened: list[Callable[[], None]]

    def decider(self, name: str, generation: int = 1, shards: int = SHARDS) -> DeciderShards:
        broker = self.broker()
        decider = DeciderShards(broker, self.topics, Identity(name, shards, generation), codec())
        self.opened.extend((broker.close, decider.close))
        return decider

    def close(self) -> None:
        while self.opened:
            self.opened.pop()()

    def writer(self, decider: DeciderShards, shard: int) -> Transactions:
        """Another writer of a shard, begun under the name of a decider that does not know of it."""
        broker, group = self.broker(), decider._group
        assert group is not None
        writer = broker.transactions(shard, group)
        self.opened.extend((broker.close, writer.close))
        writer.init()
        return writer

    def committed(self, topic: str, shard: int) -> list[Record]:
        """All that a server reads now, up to the end."""
        broker = self.broker()
        reader = broker.reader(shard, {topic: 0})
        try:
            records, end = [], broker.end(topic, shard)
            while reader.position(topic) < end:
                records += reader.read(0.2)
            return records
        finally:
            reader.close()
            broker.close()

    def report(self, shard: int, request_id: str, key: PoolKey = SHOP, by: str = "", at_s: int = 0) -> None:
        message = Report(request_id=request_id, by=by, pause=Pause(pool=pool(key), paused=True))
        message.received.FromSeconds(at_s)
        self.put(self.topics.reports, shard, pool_name(key), message.SerializeToString())

    def observe(self, shard: int, size: int, key: PoolKey = SHOP, request_id: str = "", at_s: int = 0) -> None:
        message = ObservedSize(pool=pool(key), size=TargetSize(instance="one", size=size), request_id=request_id)
        message.size.read_at.FromSeconds(at_s)
        self.put(self.topics.observed, shard, f"target/{key.service}/server//one", message.SerializeToString())


def pool(key: PoolKey) -> Pool:
    return Pool(service=key.service, side=SIDE_SERVER)


def answer(revision: int, target: int, key: PoolKey = SHOP) -> PoolSize:
    return PoolSize(pool=pool(key), revision=revision, target=target)


def facts(current: int, key: PoolKey = SHOP) -> dict[Ref, PoolState]:
    return {Ref("facts", key): PoolState(Facts(now_ms=1_000, current=current))}


def commit(received: Received, beat: Heartbeat, pools: PoolsCommit) -> Commit:
    return Commit(received, beat, {"pools": pools})


def pools_of(found: ShardValues) -> PoolRecords:
    part: PoolRecords = found.parts["pools"]
    return part


beats = itertools.count(1_000)


def period(
    received: Received, decisions: list[PoolSize] | None = None, states: dict[Ref, PoolState] | None = None
) -> Commit:
    beat = Heartbeat(computed_at_ms=next(beats), lease_ms=60_000)
    return commit(received, beat, PoolsCommit(decisions or [], states=states or {}))


def taken(decider: DeciderShards, wanted: int = SHARDS) -> dict[int, tuple[DeciderLog, ShardValues]]:
    """Polls until it owns so many shards, and returns those that it took meanwhile."""
    owned: dict[int, tuple[DeciderLog, ShardValues]] = {}
    until = time.monotonic() + WAIT_S
    while len(decider.owned) != wanted:
        assert time.monotonic() < until, f"{len(decider.owned)} shards instead of {wanted}"
        change = decider.poll(0.1)
        for shard in change.left:
            owned.pop(shard, None)
        if change.taken is not None:
            owned[change.taken[0].shard] = change.taken
    return owned


def received(log: DeciderLog, reports: int, observed: int = 0) -> Received:
    """Asks until so much of it has come."""
    until = time.monotonic() + WAIT_S
    while True:
        batch = log.received(0.1)
        if (len(batch.reports), len(batch.observed)) == (reports, observed):
            return batch
        assert time.monotonic() < until, f"{len(batch.reports)} reports instead of {reports}"
