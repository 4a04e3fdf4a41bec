"""The table of decisions: for what is the case, in this order, what is said and done.

The first row that holds is taken. `python -m sluice.pools.policy.transitions` prints it as the documents have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sluice.model.states import State
from sluice.pools.policy.decision import Action, Basis


class Case(Enum):
    """What is the case; in the order in which it is asked."""

    SET = "an operator set the size of the pool"
    PAUSED = "an operator paused the pool"
    NO_SIZE = "no target told its size within a minute"
    MIXED = "targets have different sizes, as while they roll"
    UNBOUNDED = "a target has no limit"
    GAVE_UP = "less completed than at the operator's size, which is held now"
    COLLAPSED = "completions collapsed after the last change, which is taken back"
    ERRORS_RISE = "more requests fail since the last change, which is taken back"
    CHECKED = "less completes than at the operator's size: whether that is the demand is seen there"
    NO_DATA = "nothing completed for 30 s"
    QUIET = "nothing may change now"
    OUTSIDE = "the size in force is outside the constraints"
    WAITING = "the last change is less than 3 s old, or nothing was seen of it yet"
    SPANS_DISAGREE = "more is in flight than the pool holds: spans count what it does not hold"
    UNACCOUNTED = "requests wait, and spans show the pool idle: they do not show all that it holds"
    CALLEE = "its requests wait for what they call, so its curve is that one's"
    DOUBT = "the newest seconds contradict what is believed"
    WAVE_BACK = "a change is on some targets, and is worse there"
    WAVE_ON = "a change is on some targets, and not known to be worse there"
    STOPPED = "less than 4 s of evidence, and nothing completes in time: another size cannot be worse"
    TOO_LITTLE = "less than 4 s of evidence"
    BETTER = "another size is better"
    LOOK = "another size may be better, and is worth 3 s"
    STUCK = "the pool is full, its callers wait, and no larger size was tried"
    UNSURE = "another size seems better, not surely enough to be applied"
    BEST = "no other size is known to be better"
    NEVER_FULL = "no other size is known to be better, and the pool was never full on this CPU limit"


@dataclass(frozen=True)
class Row:
    """target: "current", "pool" (the last decided, or set by another since), "all" (the same, but of a change that some
    targets have alone the size before it; that of most where they never were seen alike), "inside" (the legal one
    nearest to it, or to what another's change took away), "set" (by an operator, or the legal one nearest to that),
    "chosen", "chosen or baseline" (the last that was good),
    "taken back" (what the guard asks for, harm.py). A row that takes back is APPLY until that is in force.

    basis: None where what the choice stands on says it. state: None where what is known of the curve does.
    """

    target: str
    basis: Basis | None
    action: Action
    state: State | None


TABLE: dict[Case, Row] = {
    Case.SET: Row("set", Basis.OPERATOR, Action.APPLY, State.PAUSED),
    Case.PAUSED: Row("current", Basis.OPERATOR, Action.HOLD, State.PAUSED),
    Case.NO_SIZE: Row("chosen or baseline", None, Action.HOLD, None),
    Case.MIXED: Row("all", Basis.HELD, Action.APPLY, None),
    Case.UNBOUNDED: Row("chosen", None, Action.APPLY, None),
    Case.GAVE_UP: Row("taken back", Basis.REVERT, Action.APPLY, State.GUARDED),
    Case.COLLAPSED: Row("taken back", Basis.REVERT, Action.APPLY, State.LEARNING),
    Case.ERRORS_RISE: Row("taken back", Basis.REVERT, Action.APPLY, State.LEARNING),
    Case.CHECKED: Row("taken back", Basis.REVERT, Action.APPLY, State.LEARNING),
    Case.NO_DATA: Row("current", Basis.HELD, Action.HOLD, State.NO_DATA),
    Case.QUIET: Row("current", Basis.HELD, Action.HOLD, None),
    Case.OUTSIDE: Row("inside", Basis.HELD, Action.APPLY, State.GUARDED),
    Case.WAITING: Row("pool", None, Action.APPLY, None),
    Case.SPANS_DISAGREE: Row("current", Basis.HELD, Action.HOLD, State.LEARNING),
    Case.UNACCOUNTED: Row("current", Basis.HELD, Action.HOLD, State.LEARNING),
    Case.CALLEE: Row("current", Basis.HELD, Action.HOLD, State.LEARNING),
    Case.DOUBT: Row("current", Basis.HELD, Action.HOLD, None),
    Case.WAVE_BACK: Row("all", Basis.REVERT, Action.APPLY, None),
    Case.WAVE_ON: Row("pool", None, Action.APPLY, None),
    Case.STOPPED: Row("chosen", Basis.PROBE, Action.APPLY, State.LEARNING),
    Case.TOO_LITTLE: Row("current", Basis.HELD, Action.HOLD, None),
    Case.BETTER: Row("chosen", None, Action.APPLY, None),
    Case.LOOK: Row("chosen", Basis.PROBE, Action.APPLY, None),
    Case.STUCK: Row("chosen", Basis.PROBE, Action.APPLY, None),
    Case.UNSURE: Row("current", Basis.HELD, Action.HOLD, State.LEARNING),
    Case.BEST: Row("current", Basis.HELD, Action.HOLD, None),
    Case.NEVER_FULL: Row("current", Basis.HELD, Action.HOLD, State.UNSATURATED),
}


def table() -> str:
    """As Markdown."""
    lines = ["| what is the case | target | basis | action | state |", "|---|---|---|---|---|"]
    for case, row in TABLE.items():
        basis = "what it stands on" if row.basis is None else row.basis.value
        state = "by what is known" if row.state is None else row.state.value
        lines.append(f"| {case.value} | {row.target} | {basis} | {row.action.value} | {state} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
