"""Kafka in memory, as far as the journal needs it: for tests, and for runs without durability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

from sluice.journal.broker import Broker, Group, Reader, Record, Transactions
from sluice.journal.shard import FencedError, HungError
from sluice_kit.journal.memory_group import Members, MemoryGroup
from sluice_kit.journal.memory_partition import Partition


def _nothing(_: str) -> None: ...


@dataclass
class _Transaction:
    """written: partitions without a marker of its end. offset: of the reports used. committed: None while open."""

    by: tuple[str, int]
    written: set[tuple[str, int]] = field(default_factory=set)
    offset: int | None = None
    committed: bool | None = None


class MemoryCluster:
    """The state that outlives every client."""

    def __init__(self, topics: Iterable[str], shards: int) -> None:
        self.shards = shards
        self.partitions = {(name, shard): Partition(name) for name in topics for shard in range(shards)}
        self.members = Members(shards)
        self.offsets: dict[int, int] = {}
        self._epochs: dict[int, int] = {}
        self._transactions: dict[int, _Transaction] = {}
        self._numbers = count()

    def init(self, shard: int) -> int:
        """A new epoch of the shard's writer. Aborts the transaction of older epochs, and refuses their calls."""
        self.end(shard, committed=False)
        self._epochs[shard] = self._epochs.get(shard, -1) + 1
        return self._epochs[shard]

    def time_out(self, shard: int) -> None:
        """Acts as the broker 10 s after a transaction began."""
        if shard in self._transactions:
            self.init(shard)

    def settle(self, shard: int) -> None:
        """Ends a decided transaction whose writer is gone, as the broker does."""
        if shard in self._transactions and self._transactions[shard].committed is not None:
            self.end(shard, committed=False)

    def begun(self, shard: int, epoch: int) -> _Transaction:
        """The transaction of a writer. Raises FencedError for an older epoch."""
        if self._epochs.get(shard) != epoch:
            raise FencedError(f"write to shard {shard}: epoch {epoch} is over; now {self._epochs.get(shard)}")
        if shard not in self._transactions:
            self._transactions[shard] = _Transaction((f"shard {shard}", next(self._numbers)))
        return self._transactions[shard]

    def end(self, shard: int, committed: bool, between: Callable[[], None] = lambda: None) -> None:
        """Ends a transaction. A decision is final; the next caller writes the markers that are still missing."""
        transaction = self._transactions.get(shard)
        if transaction is None:
            return
        transaction.committed = committed if transaction.committed is None else transaction.committed
        while transaction.written:
            between()
            if transaction.written:
                self.partitions[transaction.written.pop()].decide(transaction.by, transaction.committed)
        if self._transactions.get(shard) is transaction:
            del self._transactions[shard]
            if transaction.committed and transaction.offset is not None:
                self.offsets[shard] = transaction.offset


class MemoryBroker(Broker):
    """A client. Calls `called` with the name of each call before it happens. `called` may raise, as for a kill or a
    lost answer, and may run other clients, as during a pause."""

    def __init__(self, cluster: MemoryCluster, called: Callable[[str], None] = _nothing) -> None:
        self.cluster, self.called = cluster, called

    def partitions(self, topics: Iterable[str]) -> dict[str, int]:
        self.called("partitions")
        there = {name for name, _ in self.cluster.partitions}
        return {name: self.cluster.shards for name in topics if name in there}

    def end(self, topic: str, shard: int) -> int:
        self.called("end")
        return self.cluster.partitions[topic, shard].end

    def reader(self, shard: int, since: Mapping[str, int]) -> MemoryReader:
        self.called("reader")
        return MemoryReader(self, {self.cluster.partitions[name, shard]: offset for name, offset in since.items()})

    def group(self) -> MemoryGroup:
        self.called("group")
        return MemoryGroup(self.cluster.members, self.cluster.offsets, self.called)

    def deciders(self) -> int:
        self.called("deciders")
        return len(self.cluster.members)

    def transactions(self, shard: int, group: Group) -> MemoryTransactions:
        assert isinstance(group, MemoryGroup)
        return MemoryTransactions(self, shard, group)

    def close(self) -> None: ...


class MemoryReader(Reader):
    def __init__(self, broker: MemoryBroker, since: Mapping[Partition, int]) -> None:
        self._broker = broker
        self._at = {partition.topic: (partition, offset) for partition, offset in since.items()}

    def read(self, timeout_s: float) -> list[Record]:
        self._broker.called("read")
        records: list[Record] = []
        for name, (partition, since) in self._at.items():
            records += partition.committed(since)
            self._at[name] = partition, max(since, partition.stable)
        return records

    def position(self, topic: str) -> int:
        return self._at[topic][1]

    def at_end(self, topic: str) -> bool:
        partition, at = self._at[topic]
        return at >= partition.stable

    def close(self) -> None: ...


class MemoryTransactions(Transactions):
    def __init__(self, broker: MemoryBroker, shard: int, group: MemoryGroup) -> None:
        self._broker, self._cluster, self._shard, self._group = broker, broker.cluster, shard, group
        self._epoch = -1

    def init(self) -> None:
        self._broker.called("init")
        self._epoch = self._cluster.init(self._shard)

    def begin(self) -> None:
        """Needs no call to the broker."""

    def send(self, topic: str, key: str, value: bytes | None) -> None:
        self._broker.called("send")
        transaction = self._cluster.begun(self._shard, self._epoch)
        transaction.written.add((topic, self._shard))
        self._cluster.partitions[topic, self._shard].append(key, value, transaction.by)

    def send_offset(self, offset: int) -> None:
        self._broker.called("send_offset")
        transaction = self._cluster.begun(self._shard, self._epoch)
        self._group.check()
        transaction.offset = offset

    def commit(self) -> None:
        self._end("commit", committed=True)

    def abort(self) -> None:
        self._end("abort", committed=False)

    def close(self) -> None:
        with suppress(FencedError, HungError):
            self._end("close", committed=False)

    def _end(self, what: str, committed: bool) -> None:
        self._broker.called(what)
        self._cluster.begun(self._shard, self._epoch)
        self._cluster.end(self._shard, committed, lambda: self._broker.called("marker"))
        self._broker.called("answer")
