"""Selects the parts of states that are due to be written: facts when they changed, evidence once a minute, spread over
the pools.

Evidence may be old, since windows can be read again. The version that it rests on may not: a reported version is
written at once, or the seconds since the last record would count for the wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sluice.fast.changed import changed
from sluice.model.keys import PoolKey, number_of
from sluice.pools.policy.state import Facts, Learnt, PoolState
from sluice.pools.publication.record import Ref, Restored

EVERY_MS = 60_000
# A turn before any minute.
NEVER = -1 << 62


class WriteSchedule:
    """Remembers the parts that it returned as due, or that were restored."""

    def __init__(self) -> None:
        self._facts: dict[PoolKey, Facts | None] = {}
        self._evidence: dict[PoolKey, tuple[Learnt, int]] = {}

    def restored(self, parts: Restored) -> None:
        """Marks the parts that the journal already has."""
        self._facts = {key: _undated(facts) for key, facts in parts.facts.items()}
        self._evidence = {key: (learnt, turn_of(key, now)) for key, (learnt, now) in parts.evidence.items()}

    def of(self, states: Mapping[PoolKey, PoolState]) -> Iterable[tuple[Ref, PoolState]]:
        """The parts of these states that are due now."""
        for key, state in states.items():
            facts = _undated(state.facts)
            if self._facts.get(key, Facts()) != facts:
                self._facts[key] = facts
                yield Ref("facts", key), state
            if self._evidence_is_due(key, state):
                yield Ref("evidence", key), state

    def again(self, refs: Iterable[Ref]) -> None:
        """Makes parts due again that were returned and not stored, as in a transaction that was aborted."""
        for part, key in refs:
            if part == "facts":
                self._facts[key] = None
            else:
                self._evidence[key] = Learnt(), NEVER

    def _evidence_is_due(self, key: PoolKey, state: PoolState) -> bool:
        learnt, turn = state.learnt, turn_of(key, state.facts.now_ms)
        if key not in self._evidence:
            self._evidence[key] = Learnt(), turn
        written, last_turn = self._evidence[key]
        if (turn <= last_turn and learnt.version == written.version) or learnt == written:
            return False
        # The belief at that time is not written, and is half of the memory of a pool.
        self._evidence[key] = changed(learnt, kept=None), turn
        return True


def turn_of(key: PoolKey, now_ms: int) -> int:
    """Grows by one each minute, at another second of the minute for each pool; the same in every process."""
    return (now_ms - number_of(key) % EVERY_MS) // EVERY_MS


def _undated(facts: Facts) -> Facts:
    """The facts without their time, which alone is no change."""
    return changed(facts, now_ms=0)
