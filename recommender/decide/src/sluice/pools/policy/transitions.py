"""The table of decisions: the cases in the order in which they are checked, and the decision in each.

The first case that holds is taken. `python -m sluice.pools.policy.transitions` prints the table of
docs/algorithms/cases.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sluice.model.states import State
from sluice.pools.policy.decision import Action, Basis


class Case(Enum):
    """The situation of a pool, in the order in which case.py checks. The name is the reason's code; the value is its
    text."""

    SET = "an operator set the size of the pool"
    PAUSED = "an operator paused the pool"
    SAMPLED = "the traces are a sample, which does not show concurrency"
    TAIL_SAMPLED = "the traces were chosen by their outcome, and do not show concurrency"
    NO_SIZE = "no target reported its size within a minute"
    MIXED = "targets have different sizes, as during a rollout"
    UNBOUNDED = "a target has no limit"
    GAVE_UP = "less completed than at the operator's size; the pool stays at the operator's size"
    COLLAPSED = "completions collapsed after the last change; the change is taken back"
    NO_GAIN = "a pool that was never full completes no more since it was shrunk; the change is taken back"
    ERRORS_RISE = "more requests fail since the last change; the change is taken back"
    FEWER_IN_TIME = "fewer complete in time since the last change; the change is taken back"
    CHECKED = "less completes than at the operator's size; a look at that size shows whether the demand fell"
    NO_DATA = "nothing completed for 30 s; ./sluice doctor tells whether spans are missing"
    QUIET = "nothing may change now"
    OUTSIDE = "the size in force is outside the constraints"
    WAITING = "the last change is less than 3 s old, or its effect is not in the data yet"
    SPANS_DISAGREE = "more requests are in flight than the pool holds: spans count requests outside the pool"
    UNACCOUNTED = "requests wait although spans show the pool idle: spans do not show all that the pool holds"
    CALLEE = "requests wait for a callee, so the curve is the callee's and not the pool's"
    DOUBT = "the newest seconds contradict the belief"
    WAVE_BACK = "some targets have the change, and it is worse there"
    WAVE_ON = "some targets have the change, and it is not known to be worse there"
    FEW_TRACES = "another size seems better, but there are too few traces to tell whether they are a sample"
    STOPPED = "less than 4 s of evidence, and nothing completes in time: another size cannot be worse"
    TOO_LITTLE = "less than 4 s of evidence"
    BETTER = "another size is better"
    LOOK = "another size may be better, and is worth a look"
    STUCK = "the pool is full, callers wait, and no larger size was tried for long"
    UNSURE = "another size seems better, but the confidence is too low to apply it"
    UNMEASURED = "another size seems better; the one in force, which Sluice did not set, is measured for 2 s before"
    IN_TIME = "a smaller size would complete more, and fewer in time; callers' spans show what is in time here"
    BEST = "no other size is known to be better"
    NEVER_FULL = "the pool was never full on this CPU limit, so no other size is tried"


@dataclass(frozen=True)
class Row:
    """The decision in one case. A row with target "taken back" is APPLY until that size is in force.

    target is one of:
    - "current": the size in force.
    - "pool": the size that was decided last, or that somebody else set since.
    - "all": as "pool". While only some targets have a change, it is the size before the change. Where all targets never
      had one size, it is the size that most have.
    - "inside": the legal size nearest to the size in force, or nearest to the one that somebody else's change replaced.
    - "set": the legal size nearest to the one that an operator set.
    - "chosen": the size that view.py chose.
    - "chosen or baseline": the chosen size, or else the last one that was expected to lose less than 1 %.
    - "taken back": the size that the guard requires (harm.py).

    basis: None takes the basis of the choice. state: None takes the state from the belief.
    """

    target: str
    basis: Basis | None
    action: Action
    state: State | None


TABLE: dict[Case, Row] = {
    Case.SET: Row("set", Basis.OPERATOR, Action.APPLY, State.PAUSED),
    Case.PAUSED: Row("current", Basis.OPERATOR, Action.HOLD, State.PAUSED),
    Case.SAMPLED: Row("current", Basis.HELD, Action.HOLD, State.LEARNING),
    Case.TAIL_SAMPLED: Row("current", Basis.HELD, Action.HOLD, State.LEARNING),
    Case.NO_SIZE: Row("chosen or baseline", None, Action.HOLD, None),
    Case.MIXED: Row("all", Basis.HELD, Action.APPLY, None),
    Case.UNBOUNDED: Row("chosen", None, Action.APPLY, None),
    Case.GAVE_UP: Row("taken back", Basis.REVERT, Action.APPLY, State.GUARDED),
    Case.COLLAPSED: Row("taken back", Basis.REVERT, Action.APPLY, State.LEARNING),
    Case.NO_GAIN: Row("taken back", Basis.REVERT, Action.APPLY, State.LEARNING),
    Case.ERRORS_RISE: Row("taken back", Basis.REVERT, Action.APPLY, State.LEARNING),
    Case.FEWER_IN_TIME: Row("taken back", Basis.REVERT, Action.APPLY, State.LEARNING),
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
    Case.FEW_TRACES: Row("current", Basis.HELD, Action.HOLD, State.LEARNING),
    Case.STOPPED: Row("chosen", Basis.PROBE, Action.APPLY, State.LEARNING),
    Case.TOO_LITTLE: Row("current", Basis.HELD, Action.HOLD, None),
    Case.BETTER: Row("chosen", None, Action.APPLY, None),
    Case.LOOK: Row("chosen", Basis.PROBE, Action.APPLY, None),
    Case.STUCK: Row("chosen", Basis.PROBE, Action.APPLY, None),
    Case.UNSURE: Row("current", Basis.HELD, Action.HOLD, State.LEARNING),
    Case.UNMEASURED: Row("current", Basis.HELD, Action.HOLD, None),
    Case.IN_TIME: Row("current", Basis.HELD, Action.HOLD, State.LEARNING),
    Case.BEST: Row("current", Basis.HELD, Action.HOLD, None),
    Case.NEVER_FULL: Row("current", Basis.HELD, Action.HOLD, State.UNSATURATED),
}
# The cases in which the guard takes a change back.
TAKE_BACK = tuple(case for case, row in TABLE.items() if row.target == "taken back")


def table() -> str:
    """The table in Markdown."""
    lines = ["| case | target | basis | action | state |", "|---|---|---|---|---|"]
    for case, row in TABLE.items():
        basis = "of the choice" if row.basis is None else row.basis.value
        state = "from the belief" if row.state is None else row.state.value
        lines.append(f"| {case.value} | {row.target} | {basis} | {row.action.value} | {state} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
