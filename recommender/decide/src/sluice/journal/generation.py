"""By which configuration was decided last, in any shard."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from sluice.journal.broker import Broker, Reader
from sluice.journal.codec import Codec, UnreadableError
from sluice.journal.names import Topics, shard_name

log = logging.getLogger(__name__)

# A heartbeat ends every transaction, so it is near the end; what was aborted may stand behind it.
STEPS = (64, 4_096)
POLL_S = 0.05


def newest_generation(broker: Broker, topics: Topics, shards: int, codec: Codec[Any, Any, Any]) -> int:
    """0 where nobody decided yet. All shards are read at a time: the first records take a reader longest."""
    lacking = {shard: end for shard in range(shards) if (end := broker.end(topics.decisions, shard))}
    newest = 0
    for back in (*STEPS, max(lacking.values(), default=0)):
        since = {shard: max(0, end - back) for shard, end in lacking.items()}
        found = _behind(broker, topics.decisions, since, lacking, codec)
        newest = max(newest, *found.values()) if found else newest
        lacking = {shard: end for shard, end in lacking.items() if shard not in found and since[shard]}
    return newest


def _behind(
    broker: Broker, topic: str, since: Mapping[int, int], ends: Mapping[int, int], codec: Codec[Any, Any, Any]
) -> dict[int, int]:
    """Of the last heartbeat from `since` on, by shard. A transaction that is still open is not waited for."""
    found: dict[int, int] = {}
    readers: dict[int, Reader] = {}
    try:
        for shard, offset in since.items():
            readers[shard] = broker.reader(shard, {topic: offset})
        for shard, reader in readers.items():
            while reader.position(topic) < ends[shard] and not reader.at_end(topic):
                for record in reader.read(POLL_S):
                    if record.key == shard_name(shard) and record.value is not None:
                        try:
                            found[shard] = codec.generation(record)
                        except UnreadableError as cause:
                            log.error("the log is read without one record: %s", cause)
    finally:
        for reader in readers.values():
            reader.close()
    return found
