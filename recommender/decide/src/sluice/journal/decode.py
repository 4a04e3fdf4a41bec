"""Records of a shard as what they say. One that cannot be read is said, counted and left out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from sluice.journal.broker import Record
from sluice.journal.names import shard_name
from sluice.journal.shard import Found
from sluice.model.keys import PoolKey
from sluice.pools.names import key_of, pool_of
from sluice.pools.record import restored
from sluice.pools.v1.log_pb2 import ObservedSize, Report, ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.subsets import codec as subset_codec
from sluice.subsets.codec import is_subsets
from sluice.tuning import codec as tuning_codec
from sluice.tuning.names import is_tuning

log = logging.getLogger(__name__)

Parsed = TypeVar("Parsed", PoolSize, ShardHeartbeat, ObservedSize, Report)


def found(
    shard: int, states: Mapping[str, bytes], decisions: Mapping[str, bytes], observed: Mapping[str, ObservedSize]
) -> Found:
    """From the newest of each name."""
    subsets, unreadable = subset_codec.found(states, decisions)
    newest_states = restored({name: value for name, value in states.items() if not is_subsets(name)})
    tuning, unread = tuning_codec.found(decisions)
    left_out = newest_states.unreadable + unreadable + unread
    sizes: dict[PoolKey, PoolSize] = {}
    for name, value in decisions.items():
        if name != shard_name(shard) and not is_subsets(name) and not is_tuning(name):
            answer = _decision(name, value)
            if answer is None:
                left_out += 1
            else:
                sizes[key_of(answer.pool)] = answer
    beat = decisions.get(shard_name(shard))
    heartbeat = None if beat is None else parsed(ShardHeartbeat, shard_name(shard), beat)
    left_out += beat is not None and heartbeat is None
    return Found(newest_states, sizes, observed, heartbeat, left_out, subsets, tuning)


def parsed(kind: type[Parsed], name: str, value: bytes) -> Parsed | None:
    """None where it cannot be read, which is said."""
    message: Message = kind()
    try:
        message.ParseFromString(value)
    except DecodeError as cause:
        log.error("the log is read without one record: %s of %s: %s", kind.__name__, name, cause)
        return None
    return message  # type: ignore[return-value]


def report(record: Record) -> Report | None:
    return parsed(Report, record.key, record.value or b"")


def _decision(name: str, value: bytes) -> PoolSize | None:
    size = parsed(PoolSize, name, value)
    if size is None:
        return None
    try:
        if pool_of(name) != key_of(size.pool):
            raise ValueError(f"read the log: under the key {name} a decision of {key_of(size.pool)}")
    except ValueError as cause:
        log.error("the log is read without one record: %s", cause)
        return None
    return size
