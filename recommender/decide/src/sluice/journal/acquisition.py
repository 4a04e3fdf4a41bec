"""Takeover of a shard: fences earlier writers, then reads all that they wrote.

The end is the high watermark after the fencing. The last stable offset may lie before it while a transaction of the
partition is open, and a state read up to there would be old. The reader waits for the end of such a transaction, and
skips transaction markers after the records.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from sluice.journal.broker import Broker, Group, Reader
from sluice.journal.codec import Codec, Commit, Received, UnreadableError, Values
from sluice.journal.generation import newest_generation
from sluice.journal.membership import Clock, Membership
from sluice.journal.names import Topics
from sluice.journal.repeats import REMEMBERED, Repeats
from sluice.journal.shard import Identity, NotThereError, OlderError, PartitionsError
from sluice.journal.shard_log import ShardLog

log = logging.getLogger(__name__)

RESTORE_S, POLL_S = 30.0, 0.2


def check_partitions(broker: Broker, topics: Topics, shards: int) -> None:
    """Raises PartitionsError where a topic is not as configured."""
    there = broker.partitions(topics)
    for name in topics:
        if name not in there:
            raise PartitionsError(f"read {name}: it does not exist")
        if there[name] != shards:
            raise PartitionsError(f"read {name}: it has {there[name]} partitions, but {shards} shards are configured")


def check_generation(broker: Broker, topics: Topics, me: Identity, codec: Codec[Any, Any, Any]) -> None:
    """Raises OlderError where another decider already used a newer configuration."""
    _refuse_older(newest_generation(broker, topics, me.shards, codec), me)


def take(
    membership: Membership[Values, Received, Commit], group: Group, shard: int, within_s: float = RESTORE_S
) -> tuple[ShardLog[Received, Commit], Values]:
    """Raises NotThereError where the shard cannot be read within `within_s`, and errors of its writer's `init`."""
    broker, topics, codec, clock = membership.broker, membership.topics, membership.codec, membership.clock
    check_partitions(broker, topics, membership.me.shards)
    check_generation(broker, topics, membership.me, codec)
    transactions = broker.transactions(shard, group)
    readers: list[Reader] = []
    try:
        transactions.init()
        ends = {name: broker.end(name, shard) for name in (topics.state, topics.decisions, topics.observed)}
        until = clock() + within_s
        readers.append(broker.reader(shard, {topics.state: 0, topics.decisions: 0}))
        newest = _newest(readers[0], {name: ends[name] for name in (topics.state, topics.decisions)}, until, clock)
        readers.pop().close()
        committed = group.committed(shard)
        readers.append(broker.reader(shard, {topics.reports: max(0, committed - REMEMBERED)}))
        repeats = _repeats(readers[0], topics.reports, committed, codec, lambda: _in_time(until, clock, topics.reports))
        readers.pop().close()
        readers.append(broker.reader(shard, {topics.observed: 0, topics.reports: committed}))
        shard_log = ShardLog(shard, membership, transactions, readers[0], repeats)
        while readers[0].position(topics.observed) < ends[topics.observed]:
            _in_time(until, clock, topics.observed)
            shard_log.read(POLL_S)
        values = codec.values(shard, newest[topics.state], newest[topics.decisions], shard_log.observed())
        _refuse_older(values.generation, membership.me)
        return shard_log, values
    except BaseException:
        for reader in readers:
            reader.close()
        transactions.close()
        raise


def _refuse_older(newest: int, me: Identity) -> None:
    if newest > me.generation:
        raise OlderError(f"the newest heartbeat is of configuration {newest}; this decider has {me.generation}")


def _newest(reader: Reader, ends: Mapping[str, int], until: float, clock: Clock) -> dict[str, dict[str, bytes]]:
    """The newest value of each key up to `ends`, by topic."""
    kept: dict[str, dict[str, bytes]] = {name: {} for name in ends}
    while lacking := [name for name, end in ends.items() if reader.position(name) < end]:
        _in_time(until, clock, lacking[0])
        for record in reader.read(POLL_S):
            if record.value is None:
                kept[record.topic].pop(record.key, None)
            else:
                kept[record.topic][record.key] = record.value
    return kept


def _repeats(
    reader: Reader, topic: str, end: int, codec: Codec[Any, Any, Any], check_time: Callable[[], None]
) -> Repeats:
    """Repeats of the reports before `end`, from the reader's start."""
    repeats = Repeats()
    while reader.position(topic) < end and not reader.at_end(topic):
        check_time()
        for record in reader.read(POLL_S):
            if record.offset >= end:
                continue
            try:
                arrived = codec.report(record)
            except UnreadableError as cause:
                log.error("skipped a record of the journal: %s", cause)
                continue
            if arrived is not None and arrived.sender is not None:
                repeats.report(record.offset, arrived.sender)
    return repeats


def _in_time(until: float, clock: Clock, topic: str) -> None:
    if clock() > until:
        raise NotThereError(f"read {topic}: its end was not reached in time")
