"""Keys of the journal's records of subsets and of what belongs to them: collector/topics.yaml."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, unquote

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
    return _name(SUBSET, key)


def subset_of(name: str) -> SubsetKey:
    """The inverse of `subset_name`; ValueError for any other text. The functions below behave alike."""
    return SubsetKey(*_names(name, SUBSET, 3))


def containers_name(service: str) -> str:
    return _name(CONTAINERS, (service,))


def containers_of(name: str) -> str:
    return _names(name, CONTAINERS, 1)[0]


def pair_name(upstream: str, downstream: str) -> str:
    return _name(PAIR, (upstream, downstream))


def pair_of(name: str) -> ServicePair:
    return ServicePair(*_names(name, PAIR, 2))


def application_name(application: str, word: str = APPLICATION) -> str:
    """word: APPLICATION for its newest run, STATE for its state."""
    return _name(word, (application,))


def application_of(name: str, word: str = APPLICATION) -> str:
    return _names(name, word, 1)[0]


def message_of(key: SubsetKey) -> subset_pb2.SubsetKey:
    return subset_pb2.SubsetKey(upstream=key.upstream, instance=key.instance, downstream=key.downstream)


def key_of(message: subset_pb2.SubsetKey) -> SubsetKey:
    return SubsetKey(message.upstream, message.instance, message.downstream)


def _name(word: str, names: tuple[str, ...]) -> str:
    return word + "/".join(quote(name, safe="") for name in names)


def _names(name: str, word: str, count: int) -> list[str]:
    names = [unquote(each) for each in name.removeprefix(word).split("/")]
    if not name.startswith(word) or len(names) != count or not all(names):
        raise ValueError(f"read the log: a key {name!r} is not {word} and {count} names")
    return names
