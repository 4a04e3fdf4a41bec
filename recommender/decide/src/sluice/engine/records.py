"""The values that the engine reads from a shard and writes to it. Each product has its own part, which the engine does
not look into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol


class NewestHeartbeat(Protocol):
    """The heartbeat of the previous decider, as the journal has it."""

    @property
    def generation(self) -> int: ...


@dataclass(frozen=True)
class Heartbeat:
    """The end of a control period.

    lease_ms     from its record's time, for every decision except `not_renewed`
    not_renewed  messages of the products; each names a decision and the end of its lease
    """

    computed_at_ms: int
    lease_ms: int
    not_renewed: Sequence[Any] = ()

    def rest(self, now_ms: int) -> Heartbeat:
        """A heartbeat that renews nothing: leases end as after this one, or at once. Worked: 30 s from 100 s on, at
        120 s: 10 s; at 140 s: 1 ms, the shortest that a record can have."""
        return replace(self, lease_ms=max(1, self.computed_at_ms + self.lease_ms - now_ms))


@dataclass(frozen=True)
class ShardValues:
    """All values of a shard at its takeover: the newest of each key.

    parts      by the product's name; each has a `summary` for the log line of a takeover
    heartbeat  None before the first period
    left_out   number of records that could not be read; they were logged
    beat       the engine's part of `heartbeat`
    """

    parts: Mapping[str, Any]
    heartbeat: Any | None
    left_out: int
    beat: Heartbeat | None = None

    @property
    def generation(self) -> int:
        """Generation of the configuration of the newest heartbeat; 0 before the first."""
        heartbeat: NewestHeartbeat | None = self.heartbeat
        return 0 if heartbeat is None else heartbeat.generation

    def summary(self) -> str:
        return ", ".join(part.summary() for part in self.parts.values())


@dataclass(frozen=True)
class Received:
    """Inputs since the last commit, or, for sizes, since the takeover. The same ones again until a commit has them.

    observed  the newest size of each target, by the key of its record
    reports   of all products, in the order of the journal
    offset    of the topic of reports: after all of them
    """

    observed: Mapping[str, Any]
    reports: Sequence[Any]
    offset: int


@dataclass(frozen=True)
class Commit:
    """The output of one control period, committed as a whole or not at all.

    received  the inputs used
    parts     records of the products that have some, by the product's name
    failure   of a product. Then the parts are those of independent products, the heartbeat renews no lease, and the
              inputs come again.
    """

    received: Received
    heartbeat: Heartbeat
    parts: Mapping[str, Any] = field(default_factory=dict)
    failure: Exception | None = None

    @property
    def uses_inputs(self) -> bool:
        return self.failure is None
