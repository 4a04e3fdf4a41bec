"""The pools' part of a shard, and of a commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.pools.discovery.candidate import Candidate
from sluice.pools.policy.state import PoolState
from sluice.pools.publication.record import Ref, Restored
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.log_pb2 import CriticalServices, ObservedSize
from sluice.pools.v1.pool_size_pb2 import PoolSize


@dataclass(frozen=True)
class PoolRecords:
    """The pools' values of a shard at its takeover: the newest of each key.

    decisions  of each pool with a decision, also of removed pools: revisions continue from theirs
    observed   by the key of the target's record
    candidates  which spans showed, and which of them are pools
    """

    states: Restored
    decisions: Mapping[PoolKey, PoolSize]
    observed: Mapping[str, ObservedSize]
    candidates: Mapping[PoolKey, Candidate] = field(default_factory=dict)

    def summary(self) -> str:
        return f"{len(self.decisions)} decisions, {len(self.states.facts)} states"


@dataclass(frozen=True)
class PoolsCommit:
    """The pools' records of one control period.

    decisions     changed answers, each with its revision; their leases are not written
    explanations  at most 16 kB each; their `pool_size` is not written
    states        the parts that are due (`publication/schedule.py`)
    pauses        of the pools with a new pause or resume; None: resumed
    scalings      of the services with a new notification: all events to keep, oldest first
    observed      sizes of targets, by the key of their record
    candidates    those that changed; None: gone
    critical      of all root operations, where they were read anew
    gone          pools of another shard now (`moving.py`): all their records here are deleted
    forgotten     keys of targets of another shard now, likewise
    """

    decisions: Sequence[PoolSize] = ()
    explanations: Mapping[PoolKey, Explanation] = field(default_factory=dict)
    states: Mapping[Ref, PoolState] = field(default_factory=dict)
    pauses: Mapping[PoolKey, Pause | None] = field(default_factory=dict)
    scalings: Mapping[str, Sequence[Scaling]] = field(default_factory=dict)
    observed: Mapping[str, ObservedSize] = field(default_factory=dict)
    candidates: Mapping[PoolKey, Candidate | None] = field(default_factory=dict)
    critical: CriticalServices | None = None
    gone: Sequence[PoolKey] = ()
    forgotten: Sequence[str] = ()
