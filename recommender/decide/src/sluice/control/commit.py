"""What a decider reads of a shard and writes to it, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.pools.policy.state import PoolState
from sluice.pools.record import Ref, Restored
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.log_pb2 import NotRenewed, ObservedSize, Report, ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.subsets.records import KnownSubsets, SubsetCommit
from sluice.tuning.records import KnownSessions, TuningCommit
from sluice.tuning.v1.log_pb2 import Command


@dataclass(frozen=True)
class Found:
    """All that a shard holds as it is taken: the newest of each name.

    decisions  of each pool that was ever decided, also of those that were taken away: revisions go on from theirs
    observed   by the name of the target's record
    heartbeat  None where nobody decided yet
    left_out   records that could not be read: said, and left out
    subsets    what is known of the subsets of its application
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
        """Of the configuration that was decided by last; 0 where nobody decided yet."""
        return 0 if self.heartbeat is None else self.heartbeat.generation

    def summary(self) -> str:
        return f"{len(self.decisions)} decisions, {len(self.states.facts)} states"


@dataclass(frozen=True)
class Received:
    """What came since the last commit, or, of sizes, since the shard was taken. The same again until it is committed.

    observed  the newest size of each target, by the name of its record
    reports   in the order of the log
    offset    of the topic of reports: behind all of them
    commands  of tuning sessions, in the order of the log
    """

    observed: Mapping[str, ObservedSize]
    reports: Sequence[Report]
    offset: int
    commands: Sequence[Command] = ()


@dataclass(frozen=True)
class Heartbeat:
    """The end of a control period. lease_ms: from the time of its record on, for every answer but `not_renewed`."""

    computed_at_ms: int
    lease_ms: int
    not_renewed: Sequence[NotRenewed] = ()


@dataclass(frozen=True)
class Commit:
    """What one control period came to: all of it becomes true, or nothing.

    received      what it used
    decisions     answers that changed, each with its revision; leases in them are not written
    explanations  at most 16 kB each; their `pool_size` is not written
    states        the parts that are due (`pools/due.py`)
    pauses        of the pools of which `received` told one; None: it is over
    subsets       records of subsets, where a step of theirs came to an end
    tuning        records of tuning sessions, likewise
    scalings      of the services of which `received` told some: all that are to be kept, oldest first
    observed      sizes of targets, by the name of their record, and
    gone          pools and
    forgotten     names of targets that are of another shard now (`control/moving.py`): nothing of them is left in this
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
