"""Which pools are in a case that somebody should look at, and which came into it with this period.

taken back     a change of Sluice's own did harm, or seems to: `pools/policy/harm.py`
contradicted   spans and what else is known of the pool do not agree, so nothing is decided

A pool is in one from the answer that says so to the first that says another case. Answers that could not look leave it
as it was: while a change is rolled back targets differ, and it is the same alarm afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from sluice.control.answer import AWAITED, Answer
from sluice.model.keys import PoolKey
from sluice.pools.policy.transitions import Case

TAKEN_BACK = (Case.GAVE_UP.name, Case.COLLAPSED.name, Case.ERRORS_RISE.name, Case.CHECKED.name)
CONTRADICTED = (Case.SPANS_DISAGREE.name, Case.UNACCOUNTED.name)
# They stand before the alarms in the table, or in place of a decision.
UNSEEN = frozenset({Case.NO_SIZE.name, Case.MIXED.name, AWAITED.code, "FAILED"})


@dataclass(frozen=True)
class Entered:
    """A pool came into `case`; text: of the answer, with figures."""

    key: PoolKey
    case: str
    text: str


class Alarms:
    """Of the pools of one shard."""

    def __init__(self, codes: Mapping[PoolKey, tuple[str, ...]]) -> None:
        """codes: of the newest answers in the log, so that who takes a shard over does not tell them again."""
        self._of = {key: case for key, each in codes.items() if (case := _case(each)) is not None}

    @property
    def of(self) -> Mapping[PoolKey, str]:
        """The name of each pool's case; no entry where there is no alarm."""
        return self._of

    def look(self, answers: Iterable[Answer], pools: Set[PoolKey]) -> tuple[Entered, ...]:
        """answers: that were committed. pools: all that are configured; others are forgotten."""
        self._of = {key: case for key, case in self._of.items() if key in pools}
        entered = []
        for answer in answers:
            if UNSEEN.intersection(answer.content.codes[:1]):
                continue
            case, before = _case(answer.content.codes), self._of.pop(answer.key, None)
            if case is None:
                continue
            self._of[answer.key] = case
            if case != before:
                entered.append(Entered(answer.key, case, answer.reasons[0].text))
        return tuple(entered)


def _case(codes: tuple[str, ...]) -> str | None:
    """The case is the first reason of an answer (`step`)."""
    return next((code for code in codes[:1] if code in TAKEN_BACK or code in CONTRADICTED), None)
