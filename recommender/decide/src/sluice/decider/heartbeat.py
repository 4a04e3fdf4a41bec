"""The record of a shard's heartbeat. It names the pools whose leases it does not renew (`ShardHeartbeat`)."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration

from sluice.engine.records import Heartbeat
from sluice.journal.codec import UnreadableError
from sluice.journal.shard import Identity
from sluice.model.times import timestamp
from sluice.pools.codec import parsed
from sluice.pools.v1.log_pb2 import ShardHeartbeat


class Heartbeats:
    """Implements the engine's `HeartbeatCodec`."""

    def read(self, name: str, value: bytes) -> ShardHeartbeat:
        return parsed(ShardHeartbeat, name, value)

    def beat(self, message: ShardHeartbeat) -> Heartbeat:
        try:
            computed_at_ms, lease_ms = message.computed_at.ToMilliseconds(), message.lease.ToMilliseconds()
        except ValueError as cause:
            raise UnreadableError(f"read the heartbeat of shard {message.shard}: {cause}") from cause
        return Heartbeat(computed_at_ms, lease_ms, tuple(message.not_renewed))

    def value(self, shard: int, me: Identity, beat: Heartbeat) -> bytes:
        lease = Duration()
        lease.FromMilliseconds(beat.lease_ms)
        return ShardHeartbeat(
            shard=shard,
            shards=me.shards,
            generation=me.generation,
            computed_at=timestamp(beat.computed_at_ms),
            lease=lease,
            not_renewed=beat.not_renewed,
            decider=me.name,
        ).SerializeToString()
