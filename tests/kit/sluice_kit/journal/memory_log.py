"""A log in memory, what callers write into it, and deciders on it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from google.protobuf.message import Message

from sluice.config import Config
from sluice.decider.products import codec, products
from sluice.engine.counts import EngineMetrics
from sluice.engine.loop import Loop
from sluice.journal.names import shard_name, topics
from sluice.journal.shard import Identity
from sluice.journal.shards import Shards
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.model.times import timestamp
from sluice.pools.inputs.messages import event_of, scaling_name
from sluice.pools.names import message_of, pool_name
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.source import WindowSource
from sluice.pools.shard import PoolsShard
from sluice.pools.v1 import log_pb2
from sluice.pools.v1.occupancy_pb2 import Occupancy
from sluice.pools.v1.pool_size_pb2 import TargetSize
from sluice.subsets.product import SubsetResources
from sluice.tuning.product import TuningResources
from sluice_kit.decide.fakes import AtOnce
from sluice_kit.journal.memory_broker import MemoryBroker, MemoryCluster


def pool_shard(loop: Loop, number: int = 0) -> PoolsShard:
    """The pools' part of a shard that the decider owns."""
    part = loop.owned[number].parts["pools"]
    assert isinstance(part, PoolsShard)
    return part


class MemoryLog:
    """What servers write, into the first shard unless another is named, is told by methods."""

    def __init__(self, shards: int = 1) -> None:
        self.topics = topics()
        self.cluster = MemoryCluster(self.topics, shards)
        self._numbers = count(1)
        self.slo_ms: float | None = None
        """The SLO that targets declare with their sizes."""

    def loop(
        self,
        config: Config,
        collector: WindowSource,
        clock: Callable[[], int],
        pools: PoolResources | None = None,
        subsets: SubsetResources | None = None,
        tuning: TuningResources | None = None,
        *,
        alone: bool = True,
    ) -> Loop:
        """A decider that takes the shards. alone: who decided before is put out of the group, as after a kill."""
        for member in list(self.cluster.members._members if alone else ()):
            self.cluster.members.leave(member)
        me = Identity("test", len(config.groups), config.generation)
        shards = Shards(MemoryBroker(self.cluster), self.topics, me, codec(), clock=lambda: clock() / 1_000)
        pools = pools or PoolResources(background=AtOnce())
        counts = EngineMetrics()
        tenants = products(lambda: collector, pools, subsets, tuning, registry=counts.registry)
        loop = Loop(config, shards, tenants, clock, pools.problems, counts)
        loop.own()
        return loop

    def size(
        self,
        key: PoolKey,
        size: int | None,
        at_ms: int,
        instance: str = "",
        written: bool = False,
        shard: int = 0,
        occupancy: Occupancy | None = None,
        reporter: str = "",
        recommends: bool = False,
    ) -> None:
        """Read back from a target; None: it has no limit. written: it was just set. recommends: nobody writes it."""
        read = TargetSize(
            instance=instance,
            size=size,
            unbounded=size is None,
            read_at=timestamp(at_ms),
            occupancy=occupancy,
            reporter=reporter,
        )
        observed = log_pb2.ObservedSize(pool=message_of(key), size=read, written=written, recommends=recommends)
        if self.slo_ms is not None:
            observed.slo.FromNanoseconds(round(self.slo_ms * 1e6))
        self.put(self.topics.observed, f"{pool_name(key, 'target/')}/{instance}", observed, shard)

    def pause(self, key: PoolKey, pause: Pause, *, paused: bool = True, request_id: str = "") -> None:
        message = log_pb2.Pause(pool=message_of(key), paused=paused, why=pause.why)
        self._report(pool_name(key), pause.at_ms, log_pb2.Report(by=pause.by, pause=message, request_id=request_id))

    def resume(self, key: PoolKey) -> None:
        self.pause(key, Pause(0, "", ""), paused=False)

    def scaling(self, event: Scaling, request_id: str = "") -> None:
        report = log_pb2.Report(by=event.source, scaling=event_of(event), request_id=request_id)
        self._report(scaling_name(event.service), event.at_ms, report)

    def committed(self, topic: str, shard: int = 0) -> dict[str, bytes]:
        """The newest value of each key."""
        records = self.cluster.partitions[topic, shard].committed(0)
        newest = {record.key: record.value for record in records}
        return {key: value for key, value in newest.items() if value is not None}

    def _report(self, key: str, at_ms: int, report: log_pb2.Report) -> None:
        report.request_id = report.request_id or str(next(self._numbers))
        report.received.CopyFrom(timestamp(at_ms))
        self.put(self.topics.reports, key, report)

    def heartbeat(self, shard: int = 0) -> log_pb2.ShardHeartbeat:
        """The newest."""
        return log_pb2.ShardHeartbeat.FromString(self.committed(self.topics.decisions, shard)[shard_name(shard)])

    def put(self, topic: str, key: str, message: Message, shard: int = 0) -> None:
        self.cluster.partitions[topic, shard].append(key, message.SerializeToString())
