"""Which size to propose for each state of an estimate. Missing data never becomes a size of 0, and never a shrink."""

from __future__ import annotations

from sluice.pools.estimate import Estimate, Reason, State
from sluice.pools.estimate.memory import MOST_GROWTH, Carried, Kind, Prior
from sluice.pools.guard.explore import keep_or_explore, step
from sluice.pools.guard.situation import Proposal, Situation, known, lately


def propose(estimate: Estimate, situation: Situation) -> Proposal:
    """What the state of the estimate asks for, unless it has just been seen to be wrong.

    A step that gained nothing, or a size that lost, is taken back, whatever a curve says. Of sizes that a curve or its
    memory names, none is tried again for `explore_after` that is nearer to one that lost than to the one before it.
    Worked: 10 became 2 and lost: 2 to 6 are not proposed, 7 is.
    """
    current, back, lost = situation.current, situation.back, situation.lost
    if current is not None and back is not None and _against(estimate, back, current):
        text = f"{current} completes {'less than' if back > current else 'no more than'} {back} did"
        return Proposal(back, (Reason("WENT_BACK", text),), measured=True)
    proposal = _propose(estimate, situation)
    target = proposal.target
    if target is None or current is None or target >= current or proposal.explores or lost is None:
        return proposal
    nearer = 2 * target <= lost.from_size + lost.to_size
    if not nearer or not lately(lost.at_ms, situation):
        return proposal
    text = f"the current size {current} is kept: {lost.to_size} completed less than {lost.from_size} did"
    return Proposal(current, (Reason("KEPT", text),))


def _against(estimate: Estimate, back: int, current: int) -> bool:
    """Whether going back comes before what the estimate asks for.

    Without data nothing moves. A curve's size comes first, but where the trial says that it is too small.
    """
    if estimate.state is State.PROVIDED and estimate.target is not None:
        return back > current and estimate.target < back
    return estimate.state is not State.NO_DATA


def _propose(estimate: Estimate, situation: Situation) -> Proposal:
    """PROVIDED: the estimate's target. UNSATURATED: the current size, a step from it, or back. Else: what was best.

    A pool that was just scaled, of which no curve was ever seen: what its size on other CPU limits says, once.
    """
    if estimate.state is State.PROVIDED:
        return Proposal(estimate.target, ())
    if situation.prior is None and not known(situation) and situation.carried is not None:
        moved = _carried(situation.carried, situation)
        if moved is not None:
            return moved
    if estimate.state is State.UNSATURATED and situation.current is not None:
        return keep_or_explore(estimate, situation, situation.current)
    wrong = situation.starving or situation.collapse is not None
    if wrong and situation.current is not None and (situation.prior is None or known(situation)):
        return keep_or_explore(estimate, situation, situation.current)
    good, prior = situation.last_good, situation.prior
    if prior is not None and not known(situation):
        return _remembered(prior)
    if good is None:
        return Proposal(None, ())
    if situation.current is not None and situation.stands_ms is not None and situation.stands_ms > good.at_ms:
        text = f"{situation.current} was tried after {good.target} was found, and stands"
        return Proposal(situation.current, (Reason("HELD", text),))
    return Proposal(good.target, (Reason("HELD", f"last good value {good.target} is repeated"),))


def _remembered(prior: Prior) -> Proposal:
    """The last good value is from before the service changed: what was seen on its footing of now is nearer.

    A scaled optimum is a guess. Down it leads at most one step away from the one that was seen; up to twice that,
    since too large for a minute costs little (no core has more threads than before) and too small as much as the
    scaling was to gain (Sora 5.2: 310 % of 4 cores). Worked: 12 at 1 core is 24 at 2 and 24 at 4; 6 at half a core
    -> 9.
    """
    seen = prior.found.target
    if prior.kind is Kind.SAME:
        return Proposal(prior.target, (Reason("REMEMBERED", f"{prior.target} was best before with {prior.footing}"),))
    target = min(max(prior.target, seen - step(seen)), MOST_GROWTH * seen)
    text = f"{seen} was best with {prior.footing}, by the CPU limit {prior.target} now: {max(1, target)} to begin with"
    return Proposal(max(1, target), (Reason("REMEMBERED_SCALED", text),))


def _carried(carried: Carried, situation: Situation) -> Proposal | None:
    """Once per footing, before its size has changed: growing waits until the pool is too small."""
    current, since, changed = situation.current, situation.since_ms, situation.since_change_ms
    if current is None or since is None or carried.size == current:
        return None
    if changed is not None and situation.now_ms - changed >= since:
        return None
    if carried.here:
        text = f"{carried.size} was the size with {carried.footing}"
    elif carried.size > current and situation.short_lately:
        text = f"{carried.stood} with {carried.footing} and full: in proportion to the CPU limit {carried.size}"
    else:
        return None
    return Proposal(carried.size, (Reason("CARRIED_OVER", text),))
