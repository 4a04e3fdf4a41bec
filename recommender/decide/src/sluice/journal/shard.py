"""Who decides a shard, and what can become of a commit."""

from __future__ import annotations

from dataclasses import dataclass


class AbortedError(Exception):
    """Nothing of it is in the log: drop the new state, go on from the old one. `received` gives what it used again."""


class FencedError(Exception):
    """The shard is another's: leave it. Nothing of it is in the log, and nothing that is still tried will be."""


class HungError(Exception):
    """Nobody knows whether it is in the log: give the shard up. Whoever takes it next reads what is true."""


class OlderError(Exception):
    """Some shard is decided by a newer configuration: take none."""


class NotThereError(Exception):
    """The log cannot be read now: that is not an empty one. Ask again; do not begin with new states."""


class PartitionsError(Exception):
    """A topic is not there, or has another number of partitions than there are shards: it is never adjusted."""


@dataclass(frozen=True)
class Identity:
    """Of a decider, as its heartbeats tell it. generation: of its configuration, which never falls."""

    name: str
    shards: int
    generation: int
