"""What the log needs of Kafka: `kafka_broker.py` has it of a real one, `memory_broker.py` the same rules in memory.

A shard is a partition, of the same number in every topic. Calls raise `HungError` where no answer comes in time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol


class Record(NamedTuple):
    """value: None takes the key away."""

    topic: str
    offset: int
    key: str
    value: bytes | None


class Reader(Protocol):
    """Committed records of one shard of some topics. What was aborted is left out, and so are the broker's own records
    of how transactions ended, which take offsets too; it waits before what is not decided yet."""

    def read(self, timeout_s: float) -> list[Record]:
        """What is there now, or comes within `timeout_s`; in each topic's order."""

    def position(self, topic: str) -> int:
        """The offset behind all that was read, or left out."""

    def at_end(self, topic: str) -> bool:
        """Whether nothing more was committed when it was last heard of the end."""

    def close(self) -> None: ...


class Group(Protocol):
    """This decider among those that share the shards out among them."""

    def poll(self, timeout_s: float) -> frozenset[int]:
        """The shards that are this decider's now. To be called more often than `max.poll.interval.ms`: one that hangs
        gives its shards up by that."""

    def committed(self, shard: int) -> int:
        """The offset of reports that the newest transaction of the shard has; 0 before the first."""

    def close(self) -> None:
        """Leaves: the shards are given to others at once."""


class Transactions(Protocol):
    """The writer of one shard. Calls raise `AbortedError` where the transaction can only be aborted, and `FencedError`
    where it is lost since another began to write, or the group has given the shard away."""

    def init(self) -> None:
        """Fences whoever wrote before. Returns when a transaction of theirs has ended, by a commit or by an abort."""

    def begin(self) -> None: ...

    def send(self, topic: str, key: str, value: bytes | None) -> None:
        """value: None takes the key away."""

    def send_offset(self, offset: int) -> None:
        """Of reports, as of this decider as a member of its group."""

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None:
        """Aborts what was not committed, where it still may."""


class Broker(Protocol):
    def partitions(self, topics: Iterable[str]) -> dict[str, int]:
        """By topic; those that are not there are left out."""

    def end(self, topic: str, shard: int) -> int:
        """The high watermark: behind all that was written, decided or not."""

    def reader(self, shard: int, since: Mapping[str, int]) -> Reader:
        """since: by topic the first offset, or the next that there is."""

    def group(self) -> Group: ...

    def deciders(self) -> int:
        """How many are members of the group now; one that was killed is until its session ends."""

    def transactions(self, shard: int, group: Group) -> Transactions: ...

    def close(self) -> None: ...
