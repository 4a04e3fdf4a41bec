"""Journal records of subsets: a commit as writes, and a shard's records at takeover (collector/topics.yaml)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.message import DecodeError, Message

from sluice.journal.broker import Record
from sluice.journal.codec import Input, UnreadableError, Write, check_key, log_skipped, message_write
from sluice.journal.names import Topics
from sluice.model.keys import SubsetKey
from sluice.subsets.names import (
    APPLICATION,
    CONTAINERS,
    STATE,
    SUBSET,
    application_name,
    application_of,
    containers_name,
    containers_of,
    key_of,
    pair_name,
    subset_name,
    subset_of,
)
from sluice.subsets.records import KnownSubsets, SubsetCommit
from sluice.subsets.v1 import log_pb2, subset_pb2

Records = Mapping[str, bytes]


class SubsetsCodec:
    def owns(self, key: str) -> bool:
        return is_subsets(key)

    def part(self, states: Records, decisions: Records, observed: Mapping[str, Any]) -> tuple[KnownSubsets, int]:
        return read_records(states, decisions)

    def observed(self, record: Record) -> Input:
        raise UnreadableError(f"read {record.key}: subsets have no observed sizes")

    def report(self, record: Record) -> Input | None:
        """None: deciders do not use deliveries of subsets."""
        return None

    def writes(self, part: SubsetCommit, topics: Topics) -> Iterator[Write | ValueError]:
        for topic, name, message in records(part, topics):
            yield message_write(topic, name, message)


def records(commit: SubsetCommit, topics: Topics) -> Iterator[tuple[str, str, Message | None]]:
    """Topic, key and value; containers before the subsets that name them. A value of None deletes the record."""
    for name, state in commit.states.items():
        yield topics.state, application_name(name, STATE), state
    for service, containers in commit.published.containers.items():
        yield topics.decisions, containers_name(service), containers
    for subset in commit.published.subsets:
        yield topics.decisions, subset_name(key_of(subset.key)), subset
    for explanation in commit.pairs:
        pair = explanation.pair
        yield topics.explanations, pair_name(pair.upstream, pair.downstream), explanation
    if commit.run is not None:
        for name in commit.states:
            yield topics.explanations, application_name(name, APPLICATION), commit.run


def is_subsets(name: str) -> bool:
    """Whether a record of `sluice_decisions`, `sluice_state` or `sluice_reports` is about subsets and not about
    pools."""
    return name.startswith((SUBSET, CONTAINERS, STATE))


def read_records(states: Records, decisions: Records) -> tuple[KnownSubsets, int]:
    """What the records say, and how many could not be read. Ignores records that are not about subsets."""
    left_out = 0
    subsets: dict[SubsetKey, subset_pb2.Subset] = {}
    containers: dict[str, log_pb2.ServiceContainers] = {}
    state: log_pb2.ApplicationState | None = None
    for name, value in {**decisions, **states}.items():
        try:
            if name.startswith(SUBSET):
                subset = subset_pb2.Subset.FromString(value)
                check_key(name, subset_of(name), key_of(subset.key))
                subsets[subset_of(name)] = subset
            elif name.startswith(CONTAINERS):
                service = log_pb2.ServiceContainers.FromString(value)
                check_key(name, containers_of(name), service.service)
                containers[service.service] = service
            elif name.startswith(STATE):
                state = log_pb2.ApplicationState.FromString(value)
                check_key(name, application_of(name, STATE), state.application)
        except (DecodeError, ValueError) as cause:
            left_out += 1
            log_skipped(f"{name}: {cause}")
    return KnownSubsets(subsets, containers, state), left_out
