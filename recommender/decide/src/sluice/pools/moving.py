"""Moves a pool from shard to shard when its group changes, by two commits: first in the target, then in the source.

Both commits state the result, not a change, so they can be repeated after a kill between them. A pool in both shards
belongs where its revision is the newest; with equal ones, to the shard of its group, since it was moved there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from sluice.engine.records import Commit, Heartbeat, Received, ShardValues
from sluice.model.keys import PoolKey
from sluice.pools.commit import PoolRecords, PoolsCommit
from sluice.pools.inputs.operator_inputs import DurableInputs, OperatorInputs
from sluice.pools.names import key_of
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.state_message import joined
from sluice.pools.publication.leases import Leases
from sluice.pools.publication.record import Ref
from sluice.pools.v1.log_pb2 import ObservedSize, ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import STATE_DELETED, PoolSize


class Move(NamedTuple):
    """stale: the target's version is newer, so nothing is copied."""

    key: PoolKey
    source: int
    target: int
    stale: bool


@dataclass
class MovingShard:
    """A shard at its takeover, with the inputs since. Its first commit includes the inputs."""

    values: ShardValues
    received: Received
    now_ms: int

    def __post_init__(self) -> None:
        self.pools: PoolRecords = self.values.parts["pools"]
        self.operator_inputs = OperatorInputs(self.pools, self.now_ms)
        self.changes = self.operator_inputs.take(self.received)
        self.leases = Leases(self.values.heartbeat)
        beat = self.values.heartbeat
        self.not_renewed = [] if beat is None else list(beat.not_renewed)
        self.targets: dict[PoolKey, dict[str, ObservedSize]] = defaultdict(dict)
        """Target records by pool, and by the record's key."""
        for name, observed in {**self.pools.observed, **self.received.observed}.items():
            with suppress(ValueError):
                self.targets[key_of(observed.pool)][name] = observed

    def parts(self, key: PoolKey) -> dict[Ref, PoolState]:
        restored, parts = self.pools.states, {}
        if key in restored.facts:
            parts[Ref("facts", key)] = joined(restored.facts[key], None)
        if key in restored.evidence:
            parts[Ref("evidence", key)] = joined(None, restored.evidence[key])
        return parts

    def keys(self) -> set[PoolKey]:
        states = self.pools.states
        return (
            self.pools.decisions.keys()
            | states.facts.keys()
            | states.evidence.keys()
            | self.operator_inputs.pauses.keys()
        )


def moves(shards: Mapping[PoolKey, int], moving: Mapping[int, MovingShard]) -> list[Move]:
    """shards: of each configured pool. Other pools in the journal stay."""
    all_moves = []
    for source, shard in sorted(moving.items()):
        for key in sorted(shard.keys() & shards.keys()):
            if (target := shards[key]) != source:
                there, here = moving[target].pools.decisions.get(key), shard.pools.decisions.get(key)
                all_moves.append(Move(key, source, target, _stale(here, there)))
    return all_moves


def _stale(here: PoolSize | None, there: PoolSize | None) -> bool:
    if here is None or there is None:
        return there is not None
    if (here.state == STATE_DELETED) != (there.state == STATE_DELETED):
        return here.state == STATE_DELETED
    return there.revision >= here.revision


def arrival(batch: Sequence[Move], source: MovingShard, target: MovingShard, now_ms: int) -> Commit:
    """The commit of the target's shard, for moves from one source."""
    keys = [move.key for move in batch if not move.stale]
    for service in sorted({name for key in keys for name in (key.service, key.peer) if name}):
        for event in source.operator_inputs.scalings.of(service):
            target.operator_inputs.scalings.notify(event)
    services = {name for key in keys for name in (key.service, key.peer) if source.operator_inputs.scalings.of(name)}
    pauses = {key: source.operator_inputs.pauses[key] for key in keys if key in source.operator_inputs.pauses}
    target.not_renewed += source.leases.of(keys)
    changes = _changes_of(target)
    beat = _beat(target, target.values.heartbeat or source.values.heartbeat, now_ms)
    part = PoolsCommit(
        decisions=[_renumbered(source, target, key) for key in keys if key in source.pools.decisions],
        states={ref: state for key in keys for ref, state in source.parts(key).items()},
        pauses={**changes.pauses, **pauses},
        scalings={**changes.scalings, **{name: target.operator_inputs.scalings.of(name) for name in services}},
        observed={name: observed for key in keys for name, observed in source.targets[key].items()},
    )
    return Commit(target.received, beat, {"pools": part})


def departure(batch: Sequence[Move], source: MovingShard, now_ms: int) -> Commit:
    """The commit of the source's shard, after the target's."""
    changes, keys = _changes_of(source), [move.key for move in batch]
    part = PoolsCommit(
        pauses={key: pause for key, pause in changes.pauses.items() if key not in keys},
        scalings=changes.scalings,
        gone=keys,
        forgotten=[name for key in keys for name in source.targets[key]],
    )
    return Commit(source.received, _beat(source, source.values.heartbeat, now_ms), {"pools": part})


def _changes_of(shard: MovingShard) -> DurableInputs:
    """The changes by inputs; only once, since the first commit has them."""
    changes, shard.changes = shard.changes, DurableInputs({}, {})
    return changes


def _renumbered(source: MovingShard, target: MovingShard, key: PoolKey) -> PoolSize:
    """The answer with a revision above that of an earlier stay in the target's shard."""
    size, there = PoolSize(), target.pools.decisions.get(key)
    size.CopyFrom(source.pools.decisions[key])
    if there is not None:
        size.revision = max(size.revision, there.revision + 1)
    return size


def _beat(shard: MovingShard, heartbeat: ShardHeartbeat | None, now_ms: int) -> Heartbeat:
    """A heartbeat that lengthens no lease: nothing was decided."""
    computed_ms = now_ms if heartbeat is None else heartbeat.computed_at.ToMilliseconds()
    left_ms = shard.leases.until_ms - now_ms
    return Heartbeat(computed_ms, max(1, left_ms), shard.not_renewed if left_ms > 0 else [])
