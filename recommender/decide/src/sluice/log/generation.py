"""By which configuration was decided last, in any shard."""

from __future__ import annotations

from sluice.log.broker import Broker
from sluice.log.decode import parsed
from sluice.log.names import Topics, shard_name
from sluice.pools.v1.log_pb2 import ShardHeartbeat

# A heartbeat ends every transaction, so it is near the end; what was aborted may stand behind it.
STEPS = (64, 4_096)
POLL_S = 0.2


def newest_generation(broker: Broker, topics: Topics, shards: int) -> int:
    """0 where nobody decided yet."""
    return max((_of(broker, topics.decisions, shard) for shard in range(shards)), default=0)


def _of(broker: Broker, topic: str, shard: int) -> int:
    end = broker.end(topic, shard)
    for back in STEPS:
        if back < end and (newest := _behind(broker, topic, shard, end - back, end)) is not None:
            return newest
    return _behind(broker, topic, shard, 0, end) or 0


def _behind(broker: Broker, topic: str, shard: int, since: int, end: int) -> int | None:
    """Of the last heartbeat from `since` on; None without one. A transaction that is still open is not waited for."""
    newest = None
    reader = broker.reader(shard, {topic: since})
    try:
        while reader.position(topic) < end and not reader.at_end(topic):
            for record in reader.read(POLL_S):
                if record.key == shard_name(shard) and record.value is not None:
                    beat = parsed(ShardHeartbeat, record.key, record.value)
                    newest = newest if beat is None else beat.generation
    finally:
        reader.close()
    return newest
