"""The journal's codec of a decider, composed of the products' codecs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from sluice.engine.product import ProductCodec
from sluice.engine.records import Commit, Heartbeat, Received, ShardValues
from sluice.journal.broker import Record
from sluice.journal.codec import Input, UnreadableError, Write, log_skipped
from sluice.journal.names import Topics, shard_name
from sluice.journal.shard import Identity
from sluice.journal.shard_log import ShardLog
from sluice.journal.shards import Shards

DeciderLog = ShardLog[Received, Commit]
DeciderShards = Shards[ShardValues, Received, Commit]


class HeartbeatCodec(Protocol):
    """The record of a shard's heartbeat."""

    def read(self, name: str, value: bytes) -> Any:
        """The heartbeat, with its `generation`. Raises UnreadableError."""

    def beat(self, message: Any) -> Heartbeat:
        """The engine's part of a heartbeat that `read` returned. Raises UnreadableError."""

    def value(self, shard: int, me: Identity, beat: Heartbeat) -> bytes: ...


class DeciderCodec:
    """codecs: by the product's name, in the order in which they are asked for the owner of a key."""

    def __init__(self, codecs: Mapping[str, ProductCodec], heartbeats: HeartbeatCodec) -> None:
        self._codecs, self._heartbeats = codecs, heartbeats

    def values(
        self, shard: int, states: Mapping[str, bytes], decisions: Mapping[str, bytes], observed: Mapping[str, Any]
    ) -> ShardValues:
        beat, left_out = shard_name(shard), 0
        heartbeat, newest = None, None
        if (value := decisions.get(beat)) is not None:
            try:
                message = self._heartbeats.read(beat, value)
                newest, heartbeat = self._heartbeats.beat(message), message
            except UnreadableError as cause:
                left_out += 1
                log_skipped(cause)
        kinds = states, {key: value for key, value in decisions.items() if key != beat}, observed
        own: dict[str, tuple[dict[str, Any], ...]] = {name: ({}, {}, {}) for name in self._codecs}
        for number, records in enumerate(kinds):
            for key, value in records.items():
                if (owner := self._owner(key)) is None:
                    left_out += 1
                    log_skipped(f"no product owns the key {key}")
                else:
                    own[owner][number][key] = value
        parts = {name: codec.part(*own[name]) for name, codec in self._codecs.items()}
        left_out += sum(unreadable for _, unreadable in parts.values())
        return ShardValues({name: part for name, (part, _) in parts.items()}, heartbeat, left_out, newest)

    def observed(self, record: Record) -> Input:
        return self._of(record).observed(record)

    def report(self, record: Record) -> Input | None:
        return self._of(record).report(record)

    def received(self, observed: Mapping[str, Any], reports: Sequence[Any], offset: int) -> Received:
        return Received(observed, reports, offset)

    def writes(self, commit: Commit, topics: Topics) -> Iterator[Write | ValueError]:
        """Writes in the order of the codecs. A record that cannot be written does not affect the others."""
        for name, codec in self._codecs.items():
            if (part := commit.parts.get(name)) is not None:
                yield from codec.writes(part, topics)

    def heartbeat(self, shard: int, me: Identity, commit: Commit) -> bytes:
        return self._heartbeats.value(shard, me, commit.heartbeat)

    def generation(self, heartbeat: Record) -> int:
        generation: int = self._heartbeats.read(heartbeat.key, heartbeat.value or b"").generation
        return generation

    def _owner(self, key: str) -> str | None:
        return next((name for name, codec in self._codecs.items() if codec.owns(key)), None)

    def _of(self, record: Record) -> ProductCodec:
        if (owner := self._owner(record.key)) is None:
            raise UnreadableError(f"read {record.key}: no product owns this key")
        return self._codecs[owner]
