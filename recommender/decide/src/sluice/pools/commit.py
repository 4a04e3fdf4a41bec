"""The values that a decider reads from a shard and writes to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.pools.policy.state import PoolState
from sluice.pools.publication.record import Ref, Restored
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.log_pb2 import NotRenewed, ObservedSize, Report, ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.subsets.records import KnownSubsets, SubsetCommit
from sluice.tuning.records import KnownSessions, TuningCommit
from sluice.tuning.v1.log_pb2 import Command


@dataclass(frozen=True)
class Found:
    """All values of a shard at its takeover: the newest of each key.

    decisions  of each pool with a decision, also of removed pools: revisions continue from theirs
    observed   by the key of the target's record
    heartbeat  None before the first decision
    left_out   number of records that could not be read; they were logged
    subsets    subsets of its application
    tuning     its tuning sessions
    """

    states: Restored
    decisions: Mapping[PoolKey, PoolSize]
    observed: Mapping[str, ObservedSize]
    heartbeat: ShardHeartbeat | None
    left_out: int
    subsets: KnownSubsets = field(default_factory=KnownSubsets)
    tuning: KnownSessions = field(default_factory=KnownSessions)

    @property
    def generation(self) -> int:
        """Generation of the configuration of the last decision; 0 before the first."""
        return 0 if self.heartbeat is None else self.heartbeat.generation

    def summary(self) -> str:
        return f"{len(self.decisions)} decisions, {len(self.states.facts)} states"


@dataclass(frozen=True)
class Received:
    """Inputs since the last commit, or, for sizes, since the takeover. The same ones again until a commit has them.

    observed  the newest size of each target, by the key of its record
    reports   in the order of the journal
    offset    of the topic of reports: after all of them
    commands  of tuning sessions, in the order of the journal
    """

    observed: Mapping[str, ObservedSize]
    reports: Sequence[Report]
    offset: int
    commands: Sequence[Command] = ()


@dataclass(frozen=True)
class Heartbeat:
    """The end of a control period. lease_ms: from its record's time, for every answer except `not_renewed`."""

    computed_at_ms: int
    lease_ms: int
    not_renewed: Sequence[NotRenewed] = ()


@dataclass(frozen=True)
class Commit:
    """The output of one control period, committed as a whole or not at all.

    received      the inputs used
    decisions     changed answers, each with its revision; their leases are not written
    explanations  at most 16 kB each; their `pool_size` is not written
    states        the parts that are due (`pools/due.py`)
    pauses        of the pools with a pause or resume in `received`; None: resumed
    subsets       records of subsets, at the end of one of their steps
    tuning        records of tuning sessions, likewise
    scalings      of the services with a notification in `received`: all events to keep, oldest first
    observed      sizes of targets, by the key of their record
    gone          pools of another shard now (`moving.py`): all their records here are deleted
    forgotten     keys of targets of another shard now, likewise
    """

    received: Received
    heartbeat: Heartbeat
    decisions: Sequence[PoolSize] = ()
    explanations: Mapping[PoolKey, Explanation] = field(default_factory=dict)
    states: Mapping[Ref, PoolState] = field(default_factory=dict)
    pauses: Mapping[PoolKey, Pause | None] = field(default_factory=dict)
    scalings: Mapping[str, Sequence[Scaling]] = field(default_factory=dict)
    observed: Mapping[str, ObservedSize] = field(default_factory=dict)
    gone: Sequence[PoolKey] = ()
    forgotten: Sequence[str] = ()
    subsets: SubsetCommit | None = None
    tuning: TuningCommit | None = None
