"""The journal's interface to Kafka. `kafka_broker.py` implements it on Kafka, the tests' kit in memory.

A shard is the partition of the same number in every topic. Calls raise `HungError` where no answer comes in time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol


class Record(NamedTuple):
    """value: None deletes the key."""

    topic: str
    offset: int
    key: str
    value: bytes | None


class Reader(Protocol):
    """Committed records of one shard of some topics. Leaves out aborted records and the broker's transaction markers,
    which also take offsets. Waits before records of an open transaction."""

    def read(self, timeout_s: float) -> list[Record]:
        """Records that are present or arrive within `timeout_s`, in each topic's order."""

    def position(self, topic: str) -> int:
        """The next offset, after all records read or left out."""

    def at_end(self, topic: str) -> bool:
        """Whether the reader was at the end of committed records when the broker last reported the end."""

    def close(self) -> None: ...


class Group(Protocol):
    """This decider's membership in the consumer group that distributes the shards."""

    def poll(self, timeout_s: float) -> frozenset[int]:
        """The shards that this decider owns now. Must be called more often than `max.poll.interval.ms`: a decider that
        hangs loses its shards that way."""

    def committed(self, shard: int) -> int:
        """The offset of reports in the shard's newest committed transaction; 0 before the first."""

    def close(self) -> None:
        """Leaves the group, which assigns the shards to others at once."""


class Transactions(Protocol):
    """The writer of one shard. Calls raise `AbortedError` where the transaction can only be aborted, and `FencedError`
    where it is lost because another writer began, or the group assigned the shard to another decider."""

    def init(self) -> None:
        """Fences earlier writers. Returns when their open transaction has been committed or aborted."""

    def begin(self) -> None: ...

    def send(self, topic: str, key: str, value: bytes | None) -> None:
        """value: None deletes the key."""

    def send_offset(self, offset: int) -> None:
        """Adds the offset of reports to the transaction, as a member of the group."""

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None:
        """Aborts an open transaction, where that is still possible."""


class Broker(Protocol):
    def partitions(self, topics: Iterable[str]) -> dict[str, int]:
        """Number of partitions by topic. Topics that do not exist are left out."""

    def end(self, topic: str, shard: int) -> int:
        """The high watermark: the offset after all records, also of open transactions."""

    def reader(self, shard: int, since: Mapping[str, int]) -> Reader:
        """since: first offset by topic; where it was deleted, the next one counts."""

    def group(self) -> Group: ...

    def deciders(self) -> int:
        """The number of members of the group. A killed one counts until its session ends."""

    def transactions(self, shard: int, group: Group) -> Transactions: ...

    def close(self) -> None: ...
