"""Pools in a case that needs a person's attention, and those that entered one with this period.

taken back     a change of Sluice's own did harm, or seems to: `pools/policy/harm.py`
contradicted   spans and other data on the pool disagree, so nothing is decided

A pool is in an alarm from the first decision with that case until one with another case. Decisions that could not check
the case leave it: during a rollback targets differ, and the alarm afterwards is still the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from sluice.model.keys import PoolKey
from sluice.pools.policy.transitions import TAKE_BACK, Case
from sluice.pools.publication.publication import AWAITED, Publication

TAKEN_BACK = tuple(case.name for case in TAKE_BACK)
CONTRADICTED = (Case.SPANS_DISAGREE.name, Case.UNACCOUNTED.name)
# These come before the alarms in the table, or in place of a decision.
UNCHECKED = frozenset({Case.NO_SIZE.name, Case.MIXED.name, AWAITED.code, "FAILED"})


@dataclass(frozen=True)
class Entered:
    """A pool entered `case`. text: the decision's reason, with figures."""

    key: PoolKey
    case: str
    text: str


class Alarms:
    """The alarms of the pools of one shard."""

    def __init__(self, codes: Mapping[PoolKey, tuple[str, ...]]) -> None:
        """codes: reasons of the newest decisions in the journal, so that a takeover does not report them again."""
        self._of = {key: case for key, code in codes.items() if (case := _case(code)) is not None}

    @property
    def of(self) -> Mapping[PoolKey, str]:
        """The name of each pool's case; no entry without an alarm."""
        return self._of

    def look(self, answers: Iterable[Publication], pools: Set[PoolKey]) -> tuple[Entered, ...]:
        """answers: committed ones. pools: all configured ones; others are dropped. Returns new entries."""
        self._of = {key: case for key, case in self._of.items() if key in pools}
        entered = []
        for answer in answers:
            if UNCHECKED.intersection(answer.content.codes[:1]):
                continue
            case, last = _case(answer.content.codes), self._of.pop(answer.key, None)
            if case is None:
                continue
            self._of[answer.key] = case
            if case != last:
                entered.append(Entered(answer.key, case, answer.reasons[0].text))
        return tuple(entered)


def _case(codes: tuple[str, ...]) -> str | None:
    """The alarm of a decision: its first reason is the case (`step`)."""
    return next((code for code in codes[:1] if code in TAKEN_BACK or code in CONTRADICTED), None)
