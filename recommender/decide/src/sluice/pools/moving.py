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

from sluice.engine.records import Commit, Found, Heartbeat, Received
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

    found: Found
    received: Received
    now_ms: int

    def __post_init__(self) -> None:
        self.pools: PoolRecords = self.found.parts["pools"]
        self.heard = OperatorInputs(self.pools, self.now_ms)
        self.told = self.heard.take(self.received)
        self.leases = Leases(self.found.heartbeat)
        beat = self.found.heartbeat
        self.not_renewed = [] if beat is None else list(beat.not_renewed)
        self.targets: dict[PoolKey, dict[str, ObservedSize]] = defaultdict(dict)
        """Target records by pool, and by the record's key."""
        for name, each in {**self.pools.observed, **self.received.observed}.items():
            with suppress(ValueError):
                self.targets[key_of(each.pool)][name] = each

    def parts(self, key: PoolKey) -> dict[Ref, PoolState]:
        restored, found = self.pools.states, {}
        if key in restored.facts:
            found[Ref("facts", key)] = joined(restored.facts[key], None)
        if key in restored.evidence:
            found[Ref("evidence", key)] = joined(None, restored.evidence[key])
        return found

    def keys(self) -> set[PoolKey]:
        states = self.pools.states
        return self.pools.decisions.keys() | states.facts.keys() | states.evidence.keys() | self.heard.pauses.keys()


def moves(shards: Mapping[PoolKey, int], held: Mapping[int, MovingShard]) -> list[Move]:
    """shards: of each configured pool. Other pools in the journal stay."""
    found = []
    for source, one in sorted(held.items()):
        for key in sorted(one.keys() & shards.keys()):
            if (target := shards[key]) != source:
                there, here = held[target].pools.decisions.get(key), one.pools.decisions.get(key)
                found.append(Move(key, source, target, _stale(here, there)))
    return found


def _stale(here: PoolSize | None, there: PoolSize | None) -> bool:
    if here is None or there is None:
        return there is not None
    if (here.state == STATE_DELETED) != (there.state == STATE_DELETED):
        return here.state == STATE_DELETED
    return there.revision >= here.revision


def arrival(batch: Sequence[Move], source: MovingShard, target: MovingShard, now_ms: int) -> Commit:
    """The commit of the target's shard, for moves from one source."""
    keys = [each.key for each in batch if not each.stale]
    for service in sorted({name for key in keys for name in (key.service, key.peer) if name}):
        for event in source.heard.scalings.of(service):
            target.heard.scalings.notify(event)
    services = {name for key in keys for name in (key.service, key.peer) if source.heard.scalings.of(name)}
    pauses = {key: source.heard.pauses[key] for key in keys if key in source.heard.pauses}
    target.not_renewed += source.leases.of(keys)
    told = _told(target)
    beat = _beat(target, target.found.heartbeat or source.found.heartbeat, now_ms)
    part = PoolsCommit(
        decisions=[_renumbered(source, target, key) for key in keys if key in source.pools.decisions],
        states={ref: state for key in keys for ref, state in source.parts(key).items()},
        pauses={**told.pauses, **pauses},
        scalings={**told.scalings, **{name: target.heard.scalings.of(name) for name in services}},
        observed={name: each for key in keys for name, each in source.targets[key].items()},
    )
    return Commit(target.received, beat, {"pools": part})


def departure(batch: Sequence[Move], source: MovingShard, now_ms: int) -> Commit:
    """The commit of the source's shard, after the target's."""
    told, keys = _told(source), [each.key for each in batch]
    part = PoolsCommit(
        pauses={key: each for key, each in told.pauses.items() if key not in keys},
        scalings=told.scalings,
        gone=keys,
        forgotten=[name for key in keys for name in source.targets[key]],
    )
    return Commit(source.received, _beat(source, source.found.heartbeat, now_ms), {"pools": part})


def _told(held: MovingShard) -> DurableInputs:
    """The changes by inputs; only once, since the first commit has them."""
    told, held.told = held.told, DurableInputs({}, {})
    return told


def _renumbered(source: MovingShard, target: MovingShard, key: PoolKey) -> PoolSize:
    """The answer with a revision above that of an earlier stay in the target's shard."""
    size, there = PoolSize(), target.pools.decisions.get(key)
    size.CopyFrom(source.pools.decisions[key])
    if there is not None:
        size.revision = max(size.revision, there.revision + 1)
    return size


def _beat(held: MovingShard, before: ShardHeartbeat | None, now_ms: int) -> Heartbeat:
    """A heartbeat that lengthens no lease: nothing was decided."""
    computed_ms = now_ms if before is None else before.computed_at.ToMilliseconds()
    left_ms = held.leases.until_ms - now_ms
    return Heartbeat(computed_ms, max(1, left_ms), held.not_renewed if left_ms > 0 else [])
