"""A pool whose actuators only read: people set its size, or nobody does. Pure.

A decided change is then no change under way, and nothing rests after it. The target stands until new evidence speaks
against it: otherwise it would alternate with the noise of each second, between a step and a leap (reach.py), or between
two looks. Once the size is read at the targets, somebody made the change at that time. From there on the pool is as any
other: it waits for data, and the guard judges the change.
"""

from __future__ import annotations

from dataclasses import replace

from sluice.fast.changed import changed
from sluice.pools.policy.allowed import unrefused
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.observation import Constraints, Observation
from sluice.pools.policy.state import Change, Facts
from sluice.pools.policy.trust import Trust
from sluice.pools.policy.view import View
from sluice.pools.policy.worth import Choice


def made(facts: Facts, observation: Observation, now_ms: int) -> Facts:
    """The facts, with the last change as of now where the targets have just come to have its size."""
    change, size = facts.change, observation.size
    if not observation.by_hand or change is None or size != change.to_size or size == facts.current:
        return facts
    return changed(facts, change=replace(change, at_ms=now_ms))


def unmade(change: Change | None, observation: Observation, held: bool) -> Change | None:
    """The last change, where nobody has made it yet. held: nobody is to apply it, whoever writes the size."""
    by_hand = observation.by_hand or held
    return change if by_hand and change is not None and observation.size == change.from_size else None


def standing(view: View, last: Change, trust: Trust, bound: Constraints, now_ms: int) -> View:
    """The view with the size of the last change, which nobody made, as its choice while that stands: it is legal, and
    lies on the way to the choice, or beyond it in the range; or both are looks. Where nothing is chosen, because the
    load is light at this moment, it stands on the way to a range that does not hold the size in force.

    Worked, at 64 with a range of 10 to 12: 32 stands while 11 is chosen, and 11 while 32 is; 32 does not stand while 48
    is chosen. With 3 of 64 in flight 32 stands too.
    """
    choice, current, size = view.choice, view.current, last.to_size
    low, high = unrefused((bound.least, bound.most), trust, now_ms)
    if current is None or not low <= size <= high:
        return view
    choice = choice or _known_better(view, current)
    if choice is None:
        return view
    on_the_way = min(current, choice.size) <= size <= max(current, choice.size)
    one_way = (size - current) * (choice.size - current) > 0
    in_range = one_way and view.outlook is not None and view.outlook.lower <= size <= view.outlook.upper
    if on_the_way or in_range or (choice.look and last.basis is Basis.PROBE):
        return replace(view, choice=replace(choice, size=size))
    return view


def _known_better(view: View, current: int) -> Choice | None:
    """The best size by the belief, where the range does not hold the size in force."""
    known = view.outlook
    if view.stopped or known is None or known.lower <= current <= known.upper:
        return None
    return Choice(known.best, known.gain, known.sure_by, look=False)
