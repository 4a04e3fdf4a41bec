"""The log of states in memory: for tests, and for a run whose end nothing has to survive."""

from __future__ import annotations

from collections.abc import Mapping

from sluice.control.problems import Problems
from sluice.control.state_log import Counts
from sluice.core.keys import PoolKey
from sluice.log.due import Due
from sluice.log.record import restored, value_of
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.state_message import StateError


class MemoryStateLog:
    """A `StateLog`. `records`, values by name, is what outlives it, as a topic does a process."""

    def __init__(self, records: dict[str, bytes] | None = None) -> None:
        self.records = {} if records is None else records
        self._due = Due()
        self._problems = Problems()
        self._unreadable = self._illegal = 0

    def restore(self) -> dict[PoolKey, PoolState]:
        found = restored(self.records)
        self._due.restored(found)
        self._unreadable = found.unreadable
        return found.states()

    def record(self, states: Mapping[PoolKey, PoolState]) -> None:
        for ref, state in self._due.of(states):
            try:
                self.records[str(ref)] = value_of(ref, state)
            except StateError as cause:
                self._illegal += 1
                self._problems.failed(f"record {ref}", cause)

    def flush(self, timeout_s: float) -> bool:
        return True

    def close(self, timeout_s: float) -> bool:
        return True

    @property
    def counts(self) -> Counts:
        return Counts(waiting=0, failures=0, unreadable=self._unreadable, illegal=self._illegal)
