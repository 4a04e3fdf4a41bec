"""The values that the engine reads from a shard and writes to it. Each product has its own part, which the engine does
not look into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class NewestHeartbeat(Protocol):
    """The heartbeat of the previous decider, as the journal has it."""

    @property
    def generation(self) -> int: ...


@dataclass(frozen=True)
class ShardValues:
    """All values of a shard at its takeover: the newest of each key.

    parts      by the product's name; each has a `summary` for the log line of a takeover
    heartbeat  None before the first period
    left_out   number of records that could not be read; they were logged
    """

    parts: Mapping[str, Any]
    heartbeat: Any | None
    left_out: int

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
class Heartbeat:
    """The end of a control period.

    lease_ms     from its record's time, for every decision except `not_renewed`
    not_renewed  messages of the products; each names a decision and the end of its lease
    """

    computed_at_ms: int
    lease_ms: int
    not_renewed: Sequence[Any] = ()


@dataclass(frozen=True)
class Commit:
    """The output of one control period, committed as a whole or not at all.

    received  the inputs used
    parts     records of the products that have some, by the product's name
    """

    received: Received
    heartbeat: Heartbeat
    parts: Mapping[str, Any] = field(default_factory=dict)
