"""What the log has of the subsets of an application, and what a step of it adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sluice.model.keys import SubsetKey
from sluice.subsets.state import State
from sluice.subsets.v1 import explanation_pb2, log_pb2, subset_pb2

Subsets = Mapping[SubsetKey, subset_pb2.Subset]


@dataclass(frozen=True)
class SubsetRecords:
    """Records that are another than those in the log; None: it goes."""

    subsets: list[subset_pb2.Subset] = field(default_factory=list)
    containers: dict[str, log_pb2.ServiceContainers | None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.subsets or self.containers)


@dataclass(frozen=True)
class KnownSubsets:
    """Of the application of a shard, as it is in the log; solved: what it rests on, None of one who did not solve it.

    subsets: also of those that went, since revisions go on from theirs. state: None where nothing was ever decided.
    """

    subsets: Subsets = field(default_factory=dict)
    containers: Mapping[str, log_pb2.ServiceContainers] = field(default_factory=dict)
    state: log_pb2.ApplicationState | None = None
    solved: State | None = None


@dataclass(frozen=True)
class SubsetCommit:
    """Records of one transaction; None: it goes. held: what is wrong with what came; nothing of it is a record."""

    said: SubsetRecords = field(default_factory=SubsetRecords)
    pairs: Sequence[explanation_pb2.PairExplanation] = ()
    run: explanation_pb2.Run | None = None
    states: Mapping[str, log_pb2.ApplicationState | None] = field(default_factory=dict)
    held: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.said or self.pairs or self.run or self.states)
