"""A record of `sluice_state`: a part of one pool's state, or what callers reported (collector/topics.yaml)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, cast, get_args
from urllib.parse import quote, unquote

from sluice.journal.codec import MOST_BYTES, log_skipped
from sluice.model.keys import PoolKey, Side
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.pools.inputs.messages import PAUSE, SCALING, read_pause, read_scalings
from sluice.pools.policy.state import Facts, Learnt, PoolState
from sluice.pools.policy.state_message import (
    StateError,
    joined,
    read_evidence,
    read_facts,
    write_evidence,
    write_facts,
)

log = logging.getLogger(__name__)

Part = Literal["facts", "evidence"]
PARTS: tuple[Part, ...] = ("facts", "evidence")
# At most so many unreadable records are named in the log output; all are counted.
MOST_NAMED = 20


class Ref(NamedTuple):
    """A part of a pool's state."""

    part: Part
    pool: PoolKey

    def __str__(self) -> str:
        return "/".join((self.part, *(quote(name, safe="") for name in self.pool)))


def ref_of(name: str) -> Ref:
    """The inverse of `str(ref)`; StateError for any other text."""
    part, *names = name.split("/")
    if part in PARTS and len(names) == 3:
        service, side, peer = (unquote(name) for name in names)
        if side in get_args(Side):
            return Ref(part, PoolKey(service, cast(Side, side), peer))
    raise StateError(f"read a record of sluice_state: its key {name!r} is not PART/SERVICE/SIDE/PEER")


def value_of(ref: Ref, state: PoolState) -> bytes:
    """The bytes of a part. StateError for a state that could not be read again, or that is too large to store."""
    write = write_facts if ref.part == "facts" else write_evidence
    value = write(ref.pool, state)
    if len(value) > MOST_BYTES:
        raise StateError(f"write {ref}: {len(value):,} bytes are too many; legal: to {MOST_BYTES:,}")
    return value


@dataclass(frozen=True)
class Restored:
    """The readable parts by pool, what callers reported, and the number of unreadable records."""

    facts: dict[PoolKey, Facts] = field(default_factory=dict)
    evidence: dict[PoolKey, tuple[Learnt, int]] = field(default_factory=dict)
    pauses: dict[PoolKey, Pause] = field(default_factory=dict)
    scalings: list[Scaling] = field(default_factory=list)
    unreadable: int = 0

    def states(self) -> dict[PoolKey, PoolState]:
        """The state of each pool of which a part could be read."""
        keys = self.facts.keys() | self.evidence.keys()
        return {key: joined(self.facts.get(key), self.evidence.get(key)) for key in keys}


def restored(records: Mapping[str, bytes]) -> Restored:
    """The states in these records, by name. Unreadable ones are logged."""
    parts = Restored()
    unreadable = 0
    for name, value in records.items():
        try:
            _take(parts, name, value)
        except StateError as cause:
            unreadable += 1
            if unreadable <= MOST_NAMED:
                log_skipped(cause)
    if unreadable > MOST_NAMED:
        log.error("skipped %d records of the journal; %d of them are named above", unreadable, MOST_NAMED)
    return replace(parts, unreadable=unreadable)


def _take(parts: Restored, name: str, value: bytes) -> None:
    if name.startswith(PAUSE):
        key, pause = read_pause(name, value)
        parts.pauses[key] = pause
    elif name.startswith(SCALING):
        parts.scalings.extend(read_scalings(name, value))
    elif (ref := ref_of(name)).part == "facts":
        parts.facts[ref.pool] = read_facts(ref.pool, value)
    else:
        parts.evidence[ref.pool] = read_evidence(ref.pool, value)
