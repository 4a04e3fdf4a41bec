"""Names of the journal's topics, and of shards' records: collector/topics.yaml."""

from __future__ import annotations

from typing import NamedTuple


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
