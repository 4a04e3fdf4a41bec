"""The journal's interface to products: how records become values, and values records.

The journal itself knows topics, keys and bytes. A codec is stateless.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from google.protobuf.message import Message

from sluice.journal.broker import Record
from sluice.journal.names import Topics
from sluice.journal.shard import Identity

log = logging.getLogger(__name__)

# Below max.message.bytes of the topics, and below a client's default limit (1,000,000).
MOST_BYTES = 900_000


class UnreadableError(ValueError):
    """A record that cannot be read. The message names it. The journal logs, counts and skips it."""


class Write(NamedTuple):
    """value: None deletes the key."""

    topic: str
    key: str
    value: bytes | None


class Sender(NamedTuple):
    """Identifies an input that is sent again. received_ns: when a server received it, Unix time."""

    request_id: str
    by: str
    received_ns: int


class Input(NamedTuple):
    """A record that a server wrote. sender: None where the reader of the value detects repeats itself."""

    value: Any
    sender: Sender | None


class HasReceived(Protocol):
    """observed: newest values of that topic, by key. offset: of topic `reports`, after all inputs received."""

    @property
    def observed(self) -> Mapping[str, Any]: ...

    @property
    def offset(self) -> int: ...


class HasGeneration(Protocol):
    """generation: of the configuration in the shard's newest heartbeat; 0 without one."""

    @property
    def generation(self) -> int: ...

    def summary(self) -> str:
        """Text for the log line of a takeover."""


class HasCommit(Protocol):
    """uses_inputs: False where `received` comes again, and where the heartbeat alone is no reason for a commit."""

    @property
    def received(self) -> HasReceived: ...

    @property
    def uses_inputs(self) -> bool: ...


Values = TypeVar("Values", bound=HasGeneration)
Received = TypeVar("Received", bound=HasReceived)
Commit = TypeVar("Commit", bound=HasCommit)
ValuesOut = TypeVar("ValuesOut", bound=HasGeneration, covariant=True)
ReceivedOut = TypeVar("ReceivedOut", bound=HasReceived, covariant=True)
CommitIn = TypeVar("CommitIn", bound=HasCommit, contravariant=True)


class Codec(Protocol[ValuesOut, ReceivedOut, CommitIn]):
    """Found: all values of a shard. Received: inputs since the last commit. Commit: the output of a period."""

    def values(
        self, shard: int, states: Mapping[str, bytes], decisions: Mapping[str, bytes], observed: Mapping[str, Any]
    ) -> ValuesOut:
        """The newest values of the topics, by key. Logs, counts and skips records that cannot be read."""

    def observed(self, record: Record) -> Input:
        """The value of a record, which must not be None. Raises UnreadableError."""

    def report(self, record: Record) -> Input | None:
        """The input of a record; None: not for deciders. Raises UnreadableError."""

    def received(self, observed: Mapping[str, Any], reports: Sequence[Any], offset: int) -> ReceivedOut:
        """From values of `observed`, and of `report` in the order of the journal."""

    def writes(self, commit: CommitIn, topics: Topics) -> Iterator[Write | ValueError]:
        """Writes in the order of the journal, without the heartbeat. A ValueError stands for an unwritable record."""

    def heartbeat(self, shard: int, me: Identity, commit: CommitIn) -> bytes: ...

    def generation(self, heartbeat: Record) -> int:
        """The generation in a heartbeat. Raises UnreadableError."""


def bounded(write: Write, what: str, most: int = MOST_BYTES) -> Write | ValueError:
    """The write, or an error where its value has more than `most` bytes. what: name of the record, for the message."""
    if write.value is not None and len(write.value) > most:
        return ValueError(f"write {what}: {len(write.value):,} bytes are too many; legal: to {most:,}")
    return write


def message_write(topic: str, key: str, message: Message | None) -> Write | ValueError:
    """The write of a message, as of `bounded`. None deletes the key."""
    return bounded(Write(topic, key, None if message is None else message.SerializeToString()), key)


def check_key(key: str, in_key: object, in_value: object) -> None:
    """Raises ValueError where a record's key and its value name two things."""
    if in_key != in_value:
        raise ValueError(f"read {key}: it is of {in_value}")


def log_skipped(cause: object) -> None:
    """Logs a record that cannot be read. `cause` names it."""
    log.error("skipped a record of the journal: %s", cause)
