"""Journal records of pools: a commit as writes, a shard's records at takeover, and inputs (collector/topics.yaml)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from sluice.journal.broker import Record
from sluice.journal.codec import Input, Sender, UnreadableError, Write, bounded, log_skipped, message_write
from sluice.journal.names import Topics
from sluice.model.keys import PoolKey
from sluice.pools.commit import PoolRecords, PoolsCommit
from sluice.pools.discovery.candidate import Candidate
from sluice.pools.discovery.message import read_candidates, write_candidate
from sluice.pools.inputs.messages import pause_name, pause_value, scaling_name, scaling_of, scalings_value
from sluice.pools.names import CANDIDATE, key_of, pool_name, pool_of
from sluice.pools.policy.state_message import StateError
from sluice.pools.publication.record import PARTS, Ref, restored, value_of
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.log_pb2 import ObservedSize, Report, ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import PoolSize

MOST_EXPLANATION_BYTES = 16_384

Parsed = TypeVar("Parsed", PoolSize, ShardHeartbeat, ObservedSize, Report)


class PoolsCodec:
    """Owns each key that no other product owns, so it comes last."""

    def owns(self, key: str) -> bool:
        return True

    def part(
        self, states: Mapping[str, bytes], decisions: Mapping[str, bytes], observed: Mapping[str, ObservedSize]
    ) -> tuple[PoolRecords, int]:
        of_pools = restored(states)
        by_kind: tuple[dict[str, bytes], dict[str, bytes]] = {}, {}
        for name, value in decisions.items():
            by_kind[name.startswith(CANDIDATE)][name] = value
        sizes, unreadable = read_decisions(by_kind[False])
        candidates, unread = read_candidates(by_kind[True])
        return PoolRecords(of_pools, sizes, observed, candidates), of_pools.unreadable + unreadable + unread

    def observed(self, record: Record) -> Input:
        size = parsed(ObservedSize, record.key, record.value or b"")
        with _readable(record):
            return Input(size, observed_sender(size))

    def report(self, record: Record) -> Input | None:
        report = parsed(Report, record.key, record.value or b"")
        with _readable(record):
            if report.HasField("scaling"):
                scaling_of(report.scaling)
            return Input(report, report_sender(report))

    def writes(self, part: PoolsCommit, topics: Topics) -> Iterator[Write | ValueError]:
        for ref, state in part.states.items():
            try:
                yield Write(topics.state, str(ref), value_of(ref, state))
            except StateError as cause:
                yield cause
        for key, pause in part.pauses.items():
            yield Write(topics.state, pause_name(key), None if pause is None else pause_value(key, pause))
        for service, events in part.scalings.items():
            yield Write(topics.state, scaling_name(service), scalings_value(service, events))
        for key, explanation in part.explanations.items():
            yield explanation_write(key, explanation, topics)
        if part.critical is not None:
            yield message_write(topics.explanations, "critical", part.critical)
        for name, observed in part.observed.items():
            yield Write(topics.observed, name, observed.SerializeToString())
        for name in part.forgotten:
            yield Write(topics.observed, name, None)
        for key, candidate in part.candidates.items():
            yield candidate_write(key, candidate, topics)
        for key in part.gone:
            yield from gone_writes(key, topics)
        for size in part.decisions:
            yield decision_write(size, topics)


def decision_write(size: PoolSize, topics: Topics) -> Write | ValueError:
    """The record of a decision, without leases."""
    bare = PoolSize()
    bare.CopyFrom(size)
    bare.ClearField("valid_until")
    bare.ClearField("lease_left")
    name = pool_name(key_of(size.pool))
    return bounded(Write(topics.decisions, name, bare.SerializeToString()), f"the decision of {name}")


def candidate_write(key: PoolKey, candidate: Candidate | None, topics: Topics) -> Write | ValueError:
    name = pool_name(key, CANDIDATE)
    value = None if candidate is None else write_candidate(candidate).SerializeToString()
    return bounded(Write(topics.decisions, name, value), f"the candidate {key}")


def explanation_write(key: PoolKey, explanation: Explanation, topics: Topics) -> Write | ValueError:
    """The record of an explanation, without its `pool_size`."""
    bare = Explanation()
    bare.CopyFrom(explanation)
    bare.ClearField("pool_size")
    write = Write(topics.explanations, pool_name(key), bare.SerializeToString())
    return bounded(write, f"the explanation of {key}", MOST_EXPLANATION_BYTES)


def gone_writes(key: PoolKey, topics: Topics) -> Iterator[Write]:
    """Tombstones for all records of the pool in its shard."""
    for part in PARTS:
        yield Write(topics.state, str(Ref(part, key)), None)
    yield Write(topics.state, pause_name(key), None)
    yield Write(topics.explanations, pool_name(key), None)
    yield Write(topics.decisions, pool_name(key), None)


def parsed(kind: type[Parsed], name: str, value: bytes) -> Parsed:
    """The message in `value`. UnreadableError where it is none of this kind. name: the record's key."""
    message: Message = kind()
    try:
        message.ParseFromString(value)
    except DecodeError as cause:
        raise UnreadableError(f"{kind.__name__} of {name}: {cause}") from cause
    return message  # type: ignore[return-value]


def read_decisions(records: Mapping[str, bytes]) -> tuple[dict[PoolKey, PoolSize], int]:
    """The decisions in records, by pool, and the number of unreadable records."""
    sizes: dict[PoolKey, PoolSize] = {}
    left_out = 0
    for name, value in records.items():
        try:
            size = parsed(PoolSize, name, value)
            if pool_of(name) != key_of(size.pool):
                raise ValueError(f"read the journal: under the key {name} a decision of {key_of(size.pool)}")
        except ValueError as cause:
            left_out += 1
            log_skipped(cause)
        else:
            sizes[key_of(size.pool)] = size
    return sizes, left_out


@contextmanager
def _readable(record: Record) -> Iterator[None]:
    """UnreadableError where a time is none."""
    try:
        yield
    except ValueError as cause:
        raise UnreadableError(f"read {record.key}: {cause}") from cause


def report_sender(report: Report) -> Sender:
    return Sender(report.request_id, report.by, report.received.ToNanoseconds())


def observed_sender(observed: ObservedSize) -> Sender:
    """The sender of an observed size. A size that was read back with a report has the report's time, where it came with
    the first copy of the report."""
    return Sender(observed.request_id, observed.by, observed.size.read_at.ToNanoseconds())
