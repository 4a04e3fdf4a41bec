"""A commit as records, in the order in which they are written: the heartbeat is the last."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NamedTuple

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.journal.names import Topics, shard_name
from sluice.journal.shard import Commit, Heartbeat, Identity
from sluice.model.keys import PoolKey
from sluice.pools.names import key_of, pool_name
from sluice.pools.policy.state_message import StateError
from sluice.pools.record import MOST_BYTES, PARTS, Ref, value_of
from sluice.pools.told import pause_name, pause_value, scaling_name, scalings_value
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.log_pb2 import ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.subsets import codec as subset_codec
from sluice.tuning import codec as tuning_codec

log = logging.getLogger(__name__)

MOST_EXPLANATION_BYTES = 16_384


class Write(NamedTuple):
    topic: str
    key: str
    value: bytes | None


def heartbeat(shard: int, me: Identity, topics: Topics, beat: Heartbeat) -> Write:
    computed, lease = Timestamp(), Duration()
    computed.FromMilliseconds(beat.computed_at_ms)
    lease.FromMilliseconds(beat.lease_ms)
    message = ShardHeartbeat(
        shard=shard,
        shards=me.shards,
        generation=me.generation,
        computed_at=computed,
        lease=lease,
        not_renewed=beat.not_renewed,
        decider=me.name,
    )
    return Write(topics.decisions, shard_name(shard), message.SerializeToString())


def writes(commit: Commit, topics: Topics) -> Iterator[Write | ValueError]:
    """Without the heartbeat; an error for each record that cannot be written, which costs the others nothing."""
    for ref, state in commit.states.items():
        try:
            yield Write(topics.state, str(ref), value_of(ref, state))
        except StateError as cause:
            yield cause
    for key, pause in commit.pauses.items():
        yield Write(topics.state, pause_name(key), None if pause is None else pause_value(key, pause))
    for service, events in commit.scalings.items():
        yield Write(topics.state, scaling_name(service), scalings_value(service, events))
    for key, explanation in commit.explanations.items():
        value = _explanation(explanation)
        if len(value) > MOST_EXPLANATION_BYTES:
            yield _too_large(f"the explanation of {key}", value, MOST_EXPLANATION_BYTES)
        else:
            yield Write(topics.explanations, pool_name(key), value)
    for name, observed in commit.observed.items():
        yield Write(topics.observed, name, observed.SerializeToString())
    for name in commit.forgotten:
        yield Write(topics.observed, name, None)
    for key in commit.gone:
        yield from _gone(key, topics)
    for topic, name, message in _beside(commit, topics):
        written = None if message is None else message.SerializeToString()
        if written is not None and len(written) > MOST_BYTES:
            yield _too_large(name, written, MOST_BYTES)
        else:
            yield Write(topic, name, written)
    for size in commit.decisions:
        name, value = pool_name(key_of(size.pool)), _decision(size)
        if len(value) > MOST_BYTES:
            yield _too_large(f"the decision of {name}", value, MOST_BYTES)
        else:
            yield Write(topics.decisions, name, value)


def _beside(commit: Commit, topics: Topics) -> Iterator[tuple[str, str, Message | None]]:
    """Topic, key and value of what is not of pools."""
    if commit.subsets is not None:
        yield from subset_codec.records(commit.subsets, topics)
    if commit.tuning is not None:
        yield from tuning_codec.records(commit.tuning, topics)


def _gone(key: PoolKey, topics: Topics) -> Iterator[Write]:
    for part in PARTS:
        yield Write(topics.state, str(Ref(part, key)), None)
    yield Write(topics.state, pause_name(key), None)
    yield Write(topics.explanations, pool_name(key), None)
    yield Write(topics.decisions, pool_name(key), None)


def _too_large(what: str, value: bytes, most: int) -> ValueError:
    return ValueError(f"write {what}: {len(value):,} bytes are too many; legal: to {most:,}")


def _decision(size: PoolSize) -> bytes:
    bare = PoolSize()
    bare.CopyFrom(size)
    bare.ClearField("valid_until")
    bare.ClearField("lease_left")
    return bare.SerializeToString()


def _explanation(explanation: Explanation) -> bytes:
    bare = Explanation()
    bare.CopyFrom(explanation)
    bare.ClearField("pool_size")
    return bare.SerializeToString()
