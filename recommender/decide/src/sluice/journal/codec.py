"""What the journal is given by whoever decides on it: how records become values, and values records.

The journal itself knows topics, keys and bytes. A codec is stateless.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from sluice.journal.broker import Record
from sluice.journal.names import Topics
from sluice.journal.shard import Identity

# Under max.message.bytes of the topics, and under what a client sends by itself (1,000,000).
MOST_BYTES = 900_000


class UnreadableError(ValueError):
    """A record that cannot be read; the message names it. It is logged, counted and left out."""


class Write(NamedTuple):
    """value: None takes the key away."""

    topic: str
    key: str
    value: bytes | None


class Sender(NamedTuple):
    """By this an input that is sent again is known. received_ns: when a server received it, Unix time."""

    request_id: str
    by: str
    received_ns: int


class Input(NamedTuple):
    """A record that a server wrote. sender: None where whoever reads the value knows repeats by themselves."""

    value: Any
    sender: Sender | None


class HasReceived(Protocol):
    """observed: by key the newest values of that topic. offset: of topic `reports`, behind all that was received."""

    @property
    def observed(self) -> Mapping[str, Any]: ...

    @property
    def offset(self) -> int: ...


class HasFound(Protocol):
    """generation: of the configuration in the shard's newest heartbeat; 0 without one."""

    @property
    def generation(self) -> int: ...

    def summary(self) -> str:
        """For the log line of a takeover."""


class HasCommit(Protocol):
    @property
    def received(self) -> HasReceived: ...


Found = TypeVar("Found", bound=HasFound)
Received = TypeVar("Received", bound=HasReceived)
Commit = TypeVar("Commit", bound=HasCommit)
FoundOut = TypeVar("FoundOut", bound=HasFound, covariant=True)
ReceivedOut = TypeVar("ReceivedOut", bound=HasReceived, covariant=True)
CommitIn = TypeVar("CommitIn", bound=HasCommit, contravariant=True)


class Codec(Protocol[FoundOut, ReceivedOut, CommitIn]):
    """Found: all that a shard holds. Received: what came since the last commit. Commit: what a period adds."""

    def found(
        self, shard: int, states: Mapping[str, bytes], decisions: Mapping[str, bytes], observed: Mapping[str, Any]
    ) -> FoundOut:
        """By key the newest values of the topics. Records that cannot be read are logged, counted and left out."""

    def observed(self, record: Record) -> Input:
        """UnreadableError. The record has a value."""

    def report(self, record: Record) -> Input | None:
        """UnreadableError. None: it is not for deciders."""

    def received(self, observed: Mapping[str, Any], reports: Sequence[Any], offset: int) -> ReceivedOut:
        """Of values of `observed`, and of `report` in the order of the log."""

    def writes(self, commit: CommitIn, topics: Topics) -> Iterator[Write | ValueError]:
        """In the order of the log, without the heartbeat. An error stands for a record that cannot be written."""

    def heartbeat(self, shard: int, me: Identity, commit: CommitIn) -> bytes: ...

    def generation(self, heartbeat: Record) -> int:
        """UnreadableError."""


def bounded(write: Write, what: str, most: int = MOST_BYTES) -> Write | ValueError:
    """An error in place of a write whose value has more than `most` bytes. what: is written, for its message."""
    if write.value is not None and len(write.value) > most:
        return ValueError(f"write {what}: {len(write.value):,} bytes are too many; legal: to {most:,}")
    return write
