"""Keys of the journal's records of subsets and of what belongs to them: collector/topics.yaml."""

from __future__ import annotations

from typing import NamedTuple

from sluice.journal.names import key_with, names_in
from sluice.model.keys import SubsetKey
from sluice.subsets.v1 import subset_pb2

# Topic sluice_decisions. Reports of deliveries use SUBSET too.
SUBSET, CONTAINERS = "subset/", "containers/"
# Topic sluice_explanations.
PAIR, APPLICATION = "pair/", "application/"
# Topic sluice_state.
STATE = "subsets/"


class ServicePair(NamedTuple):
    upstream: str
    downstream: str


def subset_name(key: SubsetKey) -> str:
    return key_with(SUBSET, *key)


def subset_of(name: str) -> SubsetKey:
    """The inverse of `subset_name`; ValueError for any other text. The functions below behave alike."""
    return SubsetKey(*names_in(name, SUBSET, 3))


def containers_name(service: str) -> str:
    return key_with(CONTAINERS, service)


def containers_of(name: str) -> str:
    return names_in(name, CONTAINERS, 1)[0]


def pair_name(upstream: str, downstream: str) -> str:
    return key_with(PAIR, upstream, downstream)


def pair_of(name: str) -> ServicePair:
    return ServicePair(*names_in(name, PAIR, 2))


def application_name(application: str, kind: str = APPLICATION) -> str:
    """kind: APPLICATION for its newest run, STATE for its state."""
    return key_with(kind, application)


def application_of(name: str, kind: str = APPLICATION) -> str:
    return names_in(name, kind, 1)[0]


def message_of(key: SubsetKey) -> subset_pb2.SubsetKey:
    return subset_pb2.SubsetKey(upstream=key.upstream, instance=key.instance, downstream=key.downstream)


def key_of(message: subset_pb2.SubsetKey) -> SubsetKey:
    return SubsetKey(message.upstream, message.instance, message.downstream)
