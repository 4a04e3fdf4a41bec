"""The newest generation of the configuration, over all shards."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from sluice.journal.broker import Broker, Reader
from sluice.journal.codec import Codec, UnreadableError
from sluice.journal.names import Topics, shard_name

log = logging.getLogger(__name__)

# Every transaction ends with a heartbeat, so one is near the end; only aborted records can follow it.
STEPS = (64, 4_096)
POLL_S = 0.05


def newest_generation(broker: Broker, topics: Topics, shards: int, codec: Codec[Any, Any, Any]) -> int:
    """The newest generation; 0 before the first decision. Reads all shards at once, since readers start slowly."""
    lacking = {shard: end for shard in range(shards) if (end := broker.end(topics.decisions, shard))}
    newest = 0
    for back in (*STEPS, max(lacking.values(), default=0)):
        since = {shard: max(0, end - back) for shard, end in lacking.items()}
        generations = _behind(broker, topics.decisions, since, lacking, codec)
        newest = max(newest, *generations.values()) if generations else newest
        lacking = {shard: end for shard, end in lacking.items() if shard not in generations and since[shard]}
    return newest


def _behind(
    broker: Broker, topic: str, since: Mapping[int, int], ends: Mapping[int, int], codec: Codec[Any, Any, Any]
) -> dict[int, int]:
    """The generation of the last heartbeat since `since`, by shard. Does not wait for an open transaction."""
    generations: dict[int, int] = {}
    readers: dict[int, Reader] = {}
    try:
        for shard, offset in since.items():
            readers[shard] = broker.reader(shard, {topic: offset})
        for shard, reader in readers.items():
            while reader.position(topic) < ends[shard] and not reader.at_end(topic):
                for record in reader.read(POLL_S):
                    if record.key == shard_name(shard) and record.value is not None:
                        try:
                            generations[shard] = codec.generation(record)
                        except UnreadableError as cause:
                            log.error("skipped a record of the journal: %s", cause)
    finally:
        for reader in readers.values():
            reader.close()
    return generations
