"""What of a pool goes from shard to shard when its group is another: two commits, first there, then here.

Both say what is so, and not what changes: killed between them, the same is done again. A pool that is in both shards
is left where its revision is the newest; of two equal ones, in the shard of its group, since it went there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from sluice.control.commit import Commit, Found, Heartbeat, Received
from sluice.control.heard import Changes, Heard
from sluice.control.leases import Leases
from sluice.model.keys import PoolKey
from sluice.pools.names import key_of
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.state_message import joined
from sluice.pools.record import Ref
from sluice.pools.v1.log_pb2 import ObservedSize, ShardHeartbeat
from sluice.pools.v1.pool_size_pb2 import STATE_DELETED, PoolSize


class Move(NamedTuple):
    """stale: what is there already is newer, so that nothing goes there."""

    key: PoolKey
    source: int
    target: int
    stale: bool


@dataclass
class Held:
    """A shard as it was taken, and what callers have told it since. Its first commit makes that true."""

    found: Found
    received: Received
    now_ms: int

    def __post_init__(self) -> None:
        self.heard = Heard(self.found, self.now_ms)
        self.told = self.heard.take(self.received)
        self.leases = Leases(self.found.heartbeat)
        beat = self.found.heartbeat
        self.not_renewed = [] if beat is None else list(beat.not_renewed)
        self.targets: dict[PoolKey, dict[str, ObservedSize]] = defaultdict(dict)
        """By pool, and the name of the target's record."""
        for name, each in {**self.found.observed, **self.received.observed}.items():
            with suppress(ValueError):
                self.targets[key_of(each.pool)][name] = each

    def parts(self, key: PoolKey) -> dict[Ref, PoolState]:
        restored, found = self.found.states, {}
        if key in restored.facts:
            found[Ref("facts", key)] = joined(restored.facts[key], None)
        if key in restored.evidence:
            found[Ref("evidence", key)] = joined(None, restored.evidence[key])
        return found

    def keys(self) -> set[PoolKey]:
        states = self.found.states
        return self.found.decisions.keys() | states.facts.keys() | states.evidence.keys() | self.heard.pauses.keys()


def moves(shards: Mapping[PoolKey, int], held: Mapping[int, Held]) -> list[Move]:
    """shards: of each pool of the configuration. What the log has of others stays."""
    found = []
    for source, one in sorted(held.items()):
        for key in sorted(one.keys() & shards.keys()):
            if (target := shards[key]) != source:
                there, here = held[target].found.decisions.get(key), one.found.decisions.get(key)
                found.append(Move(key, source, target, _stale(here, there)))
    return found


def _stale(here: PoolSize | None, there: PoolSize | None) -> bool:
    if here is None or there is None:
        return there is not None
    if (here.state == STATE_DELETED) != (there.state == STATE_DELETED):
        return here.state == STATE_DELETED
    return there.revision >= here.revision


def arrival(batch: Sequence[Move], source: Held, target: Held, now_ms: int) -> Commit:
    """What the target's shard is told; of one source."""
    keys = [each.key for each in batch if not each.stale]
    for service in sorted({name for key in keys for name in (key.service, key.peer) if name}):
        for event in source.heard.scalings.of(service):
            target.heard.scalings.notify(event)
    services = {name for key in keys for name in (key.service, key.peer) if source.heard.scalings.of(name)}
    pauses = {key: source.heard.pauses[key] for key in keys if key in source.heard.pauses}
    target.not_renewed += source.leases.of(keys)
    told = _told(target)
    return Commit(
        target.received,
        _beat(target, target.found.heartbeat or source.found.heartbeat, now_ms),
        decisions=[_renumbered(source, target, key) for key in keys if key in source.found.decisions],
        states={ref: state for key in keys for ref, state in source.parts(key).items()},
        pauses={**told.pauses, **pauses},
        scalings={**told.scalings, **{name: target.heard.scalings.of(name) for name in services}},
        observed={name: each for key in keys for name, each in source.targets[key].items()},
    )


def departure(batch: Sequence[Move], source: Held, now_ms: int) -> Commit:
    """What the source's shard is told, once the other one has it."""
    told, keys = _told(source), [each.key for each in batch]
    return Commit(
        source.received,
        _beat(source, source.found.heartbeat, now_ms),
        pauses={key: each for key, each in told.pauses.items() if key not in keys},
        scalings=told.scalings,
        gone=keys,
        forgotten=[name for key in keys for name in source.targets[key]],
    )


def _told(held: Held) -> Changes:
    """Once: what was committed is told no more."""
    told, held.told = held.told, Changes({}, {})
    return told


def _renumbered(source: Held, target: Held, key: PoolKey) -> PoolSize:
    """Revisions do not fall in a shard in which the pool was before."""
    size, there = PoolSize(), target.found.decisions.get(key)
    size.CopyFrom(source.found.decisions[key])
    if there is not None:
        size.revision = max(size.revision, there.revision + 1)
    return size


def _beat(held: Held, before: ShardHeartbeat | None, now_ms: int) -> Heartbeat:
    """Nothing was decided, so no lease is lengthened, neither by this nor by coming to another shard."""
    computed_ms = now_ms if before is None else before.computed_at.ToMilliseconds()
    left_ms = held.leases.until_ms - now_ms
    return Heartbeat(computed_ms, max(1, left_ms), held.not_renewed if left_ms > 0 else [])
