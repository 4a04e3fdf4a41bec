"""Names of the journal's topics, and of shards' records: collector/topics.yaml."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, unquote


class Topics(NamedTuple):
    state: str
    decisions: str
    explanations: str
    observed: str
    reports: str


def topics(prefix: str = "sluice_") -> Topics:
    return Topics(*(prefix + name for name in Topics._fields))


def shard_name(shard: int) -> str:
    return f"shard/{shard}"


def key_with(prefix: str, *names: str) -> str:
    """The key of a record: a prefix that ends with a slash, then names without slashes of their own."""
    return prefix + "/".join(quote(name, safe="") for name in names)


def names_in(key: str, prefix: str, count: int) -> list[str]:
    """The inverse of `key_with`; ValueError for any other text."""
    names = [unquote(name) for name in key.removeprefix(prefix).split("/")]
    if not key.startswith(prefix) or len(names) != count or not all(names):
        raise ValueError(f"read the journal: a key {key!r} is not {prefix} and {count} names")
    return names
