"""Identity of a decider, and the outcomes of a commit."""

from __future__ import annotations

from dataclasses import dataclass


class AbortedError(Exception):
    """Nothing is in the journal: drop the new state, continue from the old one. `received` returns its inputs again."""


class FencedError(Exception):
    """Another decider owns the shard: leave it. Nothing of the commit is in the journal, nor will be."""


class HungError(Exception):
    """Whether the commit is in the journal is not known: give the shard up. Its next owner reads the outcome."""


class OlderError(Exception):
    """A newer configuration decides some shard: take none."""


class NotThereError(Exception):
    """The journal cannot be read now, which does not mean that it is empty. Retry; do not begin with new states."""


class PartitionsError(Exception):
    """A topic is missing, or its partitions are not as many as shards. The decider never changes that."""


@dataclass(frozen=True)
class Identity:
    """A decider, as its heartbeats name it. generation: of its configuration; it never decreases."""

    name: str
    shards: int
    generation: int
