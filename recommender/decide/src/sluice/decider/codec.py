"""A decider's codec: the values of `commit.py` as records of all products, and back."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from sluice.journal.broker import Record
from sluice.journal.codec import Input, UnreadableError, Write, bounded
from sluice.journal.names import Topics, shard_name
from sluice.journal.shard import Identity
from sluice.journal.shard_log import ShardLog
from sluice.journal.shards import Shards
from sluice.model.times import timestamp
from sluice.pools.codec import (
    decision_write,
    explanation_write,
    gone_writes,
    observed_sender,
    parsed,
    read_decisions,
    report_sender,
)
from sluice.pools.commit import Commit, Found, Received
from sluice.pools.inputs.messages import pause_name, pause_value, scaling_name, scalings_value
from sluice.pools.policy.state_message import StateError
from sluice.pools.publication.record import restored, value_of
from sluice.pools.v1.log_pb2 import ObservedSize, Report, ShardHeartbeat
from sluice.subsets import codec as subset_codec
from sluice.subsets.codec import is_subsets
from sluice.tuning import codec as tuning_codec
from sluice.tuning.names import is_tuning
from sluice.tuning.v1.log_pb2 import Command

log = logging.getLogger(__name__)

DeciderLog = ShardLog[Received, Commit]
DeciderShards = Shards[Found, Received, Commit]


class DeciderCodec:
    """The decider's implementation of the journal's `Codec`."""

    def found(
        self,
        shard: int,
        states: Mapping[str, bytes],
        decisions: Mapping[str, bytes],
        observed: Mapping[str, ObservedSize],
    ) -> Found:
        subsets, no_subsets = subset_codec.found(states, decisions)
        tuning, no_tuning = tuning_codec.found(decisions)
        of_pools = restored({name: value for name, value in states.items() if not is_subsets(name)})
        of_others = is_subsets, is_tuning, shard_name(shard).__eq__
        sizes, no_sizes = read_decisions(
            {name: value for name, value in decisions.items() if not any(other(name) for other in of_others)}
        )
        left_out = of_pools.unreadable + no_subsets + no_tuning + no_sizes
        heartbeat = None
        if (value := decisions.get(shard_name(shard))) is not None:
            try:
                heartbeat = parsed(ShardHeartbeat, shard_name(shard), value)
            except UnreadableError as cause:
                left_out += 1
                log.error("skipped a record of the journal: %s", cause)
        return Found(of_pools, sizes, observed, heartbeat, left_out, subsets, tuning)

    def observed(self, record: Record) -> Input:
        size = parsed(ObservedSize, record.key, record.value or b"")
        return Input(size, observed_sender(size))

    def report(self, record: Record) -> Input | None:
        """The input of a report; None for deliveries of subsets, which deciders do not use."""
        if is_subsets(record.key):
            return None
        if is_tuning(record.key):
            # The answer in the session identifies a repeat.
            return Input(tuning_codec.command(record), None)
        report = parsed(Report, record.key, record.value or b"")
        return Input(report, report_sender(report))

    def received(
        self, observed: Mapping[str, ObservedSize], reports: Sequence[Report | Command], offset: int
    ) -> Received:
        commands = [each for each in reports if isinstance(each, Command)]
        return Received(observed, [each for each in reports if isinstance(each, Report)], offset, commands)

    def writes(self, commit: Commit, topics: Topics) -> Iterator[Write | ValueError]:
        """Writes in order. A record that cannot be written does not affect the others."""
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
            yield explanation_write(key, explanation, topics)
        for name, observed in commit.observed.items():
            yield Write(topics.observed, name, observed.SerializeToString())
        for name in commit.forgotten:
            yield Write(topics.observed, name, None)
        for key in commit.gone:
            yield from gone_writes(key, topics)
        for topic, name, message in _beside(commit, topics):
            value = None if message is None else message.SerializeToString()
            yield bounded(Write(topic, name, value), name)
        for size in commit.decisions:
            yield decision_write(size, topics)

    def heartbeat(self, shard: int, me: Identity, commit: Commit) -> bytes:
        beat, lease = commit.heartbeat, Duration()
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

    def generation(self, heartbeat: Record) -> int:
        return parsed(ShardHeartbeat, heartbeat.key, heartbeat.value or b"").generation


def _beside(commit: Commit, topics: Topics) -> Iterator[tuple[str, str, Message | None]]:
    """Topic, key and message of the records that are not of pools."""
    if commit.subsets is not None:
        yield from subset_codec.records(commit.subsets, topics)
    if commit.tuning is not None:
        yield from tuning_codec.records(commit.tuning, topics)
