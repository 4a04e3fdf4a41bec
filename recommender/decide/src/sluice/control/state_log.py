"""Where the states of pools outlive the process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sluice.core.keys import PoolKey
from sluice.pools.policy.state import PoolState

# How long an answer waits for its row and its state to be stored before it is given out.
WRITE_FIRST_S = 1.0


class NotThereError(Exception):
    """The log cannot be read now: that is not an empty one. Ask again; do not begin with new states."""


@dataclass(frozen=True)
class Counts:
    """waiting: records to be written. failures: tries to write since the last success. unreadable: records of the last
    restore that were left out. illegal: records that were not written, since no restore could read them."""

    waiting: int
    failures: int
    unreadable: int
    illegal: int


class StateLog(Protocol):
    """Once: `restore`. Each period: `record`, then `flush` for as long as an answer may wait, then publish.

    What was flushed before an answer was published is known to whoever restores after a kill -9. Without a flush it may
    be lost, as it is while the store is away: decisions go on.
    """

    def restore(self) -> dict[PoolKey, PoolState]:
        """The state of every pool that was ever recorded; NotThereError when that cannot be told in time.

        A record that cannot be read, or is not legal, is left out, said and counted: its part of that pool's state is
        as of a new pool.
        """

    def record(self, states: Mapping[PoolKey, PoolState]) -> None:
        """Takes the parts that are due: facts that changed, evidence once a minute. Does no I/O, never waits."""

    def flush(self, timeout_s: float) -> bool:
        """Waits until all that was recorded is stored, at most `timeout_s`; False when some is not."""

    def close(self, timeout_s: float) -> bool:
        """As `flush`, and ends."""

    @property
    def counts(self) -> Counts: ...
