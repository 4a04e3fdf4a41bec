"""What a choice must obey that the score does not know: looks, somebody else's change, and the way to the best size."""

from __future__ import annotations

from dataclasses import replace

from sluice.fast.worth import LEAST_GAIN, SURE_BY
from sluice.pools.policy.callers import LOOKS_AGAIN_S
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.reach import legal, smallest
from sluice.pools.policy.state import Facts
from sluice.pools.policy.worth import Choice, Outlook


def before_the_look(facts: Facts, current: int, now_ms: int) -> int | None:
    """The size that the guard left for a look at the operator's, where that showed that the demand fell: the pool may
    go back there at once. Worked: 15 is left for 49, and all from 16 on are refused, so no single step leads back; 8 is
    left for 2, which the load does not fill any more, so that 2 would not grow."""
    change = facts.change
    if change is None or (change.to_size, change.basis) != (current, Basis.REVERT):
        return None
    looked = current == facts.trust.operator and now_ms < facts.trust.demand_until_ms
    return change.from_size if looked else None


def again(choice: Choice | None, facts: Facts, since_change_s: float) -> Choice | None:
    """The choice, or None where it is another look at the size that was just left: its look showed nothing, or that it
    is worse. Worked: 36 is left for 34 because fewer requests came, and is not looked at again 5 s later. A size that
    was left for a look may be gone back to."""
    change = facts.change
    if choice is None or change is None or change.basis is Basis.PROBE or since_change_s >= LOOKS_AGAIN_S:
        return choice
    return None if choice.look and choice.size == change.from_size else choice


def least_left(least: int, most: int, refused: bool) -> int:
    """What the busiest stretch needs, by the sizes that are left: where the size in force is refused, at most the
    largest that is not. Worked: 30 is refused and in force, 24 is the most that is left, and the peak needs 28: 24."""
    return min(least, most) if refused else least


def consistent(choice: Choice | None, current: int, outlook: Outlook) -> Choice | None:
    """The choice, or None where it is called better but does not lie towards the best size."""
    if choice is None or choice.look or (choice.size - current) * (outlook.best - current) > 0:
        return choice
    return None


def further(outlook: Outlook, current: int, within: tuple[int, int]) -> Choice | None:
    """As far as one change leads towards a surely better size that is out of reach. The sizes between are passed in a
    second or three.

    Worked: 8 does 10 % more than 32, and 16 is expected to do 7 % less: 16 is on the way to 8.
    """
    low, high = within
    if outlook.gain <= LEAST_GAIN or outlook.sure_by < SURE_BY or low <= outlook.best <= high:
        return None
    size = low if outlook.best < low else high
    return None if size == current or low > high else Choice(size, outlook.gain, outlook.sure_by, look=False)


def undone(choice: Choice | None, current: int, replaced: int | None, observation: Observation) -> Choice | None:
    """A choice further down than one step becomes the size that somebody else's change replaced, and nothing between.
    Worked: a user sets 200 where 2 was, and 22 is chosen: that is a step from neither."""
    if choice is None or replaced is None or choice.size >= smallest(current, None):
        return choice
    return replace(choice, size=legal(replaced, observation.constraints) or replaced)
