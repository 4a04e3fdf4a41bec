"""Which size to propose for each state of an estimate. Missing data never becomes a size of 0, and never a shrink."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sluice.estimate import Estimate, Reason, State
from sluice.estimate.collapse import Collapse
from sluice.estimate.memory import MOST_GROWTH, Carried, Kind, Prior
from sluice.guard.exploration import EARLY_MS

# One step of exploration: a quarter of the current size, rounded up.
EXPLORE_SHARE = 0.25
# A step down to where most completed: at most to half of the current size, as what it is compared with was not full.
HALF = 0.5
# An estimate on new ground takes at least 100 buckets of 50 ms: a younger one was made before the change was told.
SOONEST_MS = 5_000


@dataclass(frozen=True)
class LastGood:
    """The newest target that came from a curve; `at_ms`: Unix time of the estimate."""

    target: int
    at_ms: int


@dataclass(frozen=True)
class Lost:
    """A size that a curve named and that completed less than the one before it did; `at_ms`: when that was seen."""

    from_size: int
    to_size: int
    at_ms: int


@dataclass(frozen=True)
class Situation:
    """What is known of a pool beside its estimate.

    current         size that an actuator read back within the last minute, None when unknown
    unchanged_ms    how long that size has been in force, as far as reports go
    since_change_ms how long ago the size was seen to change, None when it never was
    since_ms        when the service last became another one: scaled, released, drifted; None when it never did
    prior           what remembered curves say, None without any that fits
    back            the size before a step that gained nothing, or lost, None without one
    failed_up_ms    when an exploration upward last gained nothing, None when none did; failed_down_ms: downward
    stands_ms       when the exploration began that led to the current size, None where none did or it was taken back
    carried         what a size in force on another footing says, None without one
    short_lately    whether the pool was full often in the newest seconds and then completed most, on whatever footing
    gained          1 when the step up that led to the current size is known to have gained, -1 a step down, else 0
    lost            the newest size of a curve that completed less than the one before it, None without one
    collapse        that the full pool completes less than it did below its size, None where it does not
    served          whether nearly all callers get their responses in time even while the pool is full
    futile          whether a larger pool is of no use: nearly all get them in time even while it is full, or requests
                    take longer than the threshold inside it already
    starving        whether it is full nearly all the time and most callers get their responses too late
    """

    now_ms: int
    current: int | None
    unchanged_ms: int
    last_good: LastGood | None
    window_ms: int
    explore_after_ms: int
    since_change_ms: int | None = None
    since_ms: int | None = None
    prior: Prior | None = None
    back: int | None = None
    failed_up_ms: int | None = None
    failed_down_ms: int | None = None
    stands_ms: int | None = None
    carried: Carried | None = None
    short_lately: bool = False
    gained: int = 0
    lost: Lost | None = None
    collapse: Collapse | None = None
    served: bool = False
    starving: bool = False
    futile: bool = False


@dataclass(frozen=True)
class Proposal:
    """A size on its way to the guard; None when there is nothing to apply.

    explores: it is a step on trial. measured: it rests on sizes that were in force and full, not on a curve; such a
    step need not wait for what a curve that is uncertain has to.
    """

    target: int | None
    reasons: tuple[Reason, ...]
    explores: bool = False
    measured: bool = False


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
    if not nearer or not _lately(lost.at_ms, situation):
        return proposal
    text = f"the current size {current} is kept: {lost.to_size} completed less than {lost.from_size} did"
    return Proposal(current, (Reason("KEPT", text),))


def _against(estimate: Estimate, back: int, current: int) -> bool:
    """Whether the estimate leaves it to the trial: without data nothing moves, and a curve's size stands above both."""
    if estimate.state is State.PROVIDED and estimate.target is not None:
        return back > current and estimate.target < back
    return estimate.state is not State.NO_DATA


def _propose(estimate: Estimate, situation: Situation) -> Proposal:
    """PROVIDED: the estimate's target. UNSATURATED: the current size, a step from it, or back. Else: what was best.

    A pool that was just scaled, of which no curve was ever seen: what its size on other CPU limits says, once.
    """
    if estimate.state is State.PROVIDED:
        return Proposal(estimate.target, ())
    if situation.prior is None and not _known(situation) and situation.carried is not None:
        moved = _carried(situation.carried, situation)
        if moved is not None:
            return moved
    if estimate.state is State.UNSATURATED and situation.current is not None:
        return _keep_or_explore(estimate, situation, situation.current)
    wrong = situation.starving or situation.collapse is not None
    if wrong and situation.current is not None and (situation.prior is None or _known(situation)):
        return _keep_or_explore(estimate, situation, situation.current)
    good, prior = situation.last_good, situation.prior
    if prior is not None and not _known(situation):
        return _remembered(prior)
    if good is None:
        return Proposal(None, ())
    if situation.current is not None and situation.stands_ms is not None and situation.stands_ms > good.at_ms:
        text = f"{situation.current} was tried after {good.target} was found, and stands"
        return Proposal(situation.current, (Reason("HELD", text),))
    return Proposal(good.target, (Reason("HELD", f"last good value {good.target} is repeated"),))


def _known(situation: Situation) -> bool:
    """Whether the last good value is of the service as it is now."""
    good, since = situation.last_good, situation.since_ms
    return good is not None and (since is None or good.at_ms - since >= SOONEST_MS)


def step(size: int) -> int:
    """One bounded step from a size. Worked: 1 -> 1, 8 -> 2, 10 -> 3."""
    return math.ceil(size * EXPLORE_SHARE)


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


def _keep_or_explore(estimate: Estimate, situation: Situation, current: int) -> Proposal:
    """Try another size, once a window, unless an optimum was found not long ago.

    Sora 3.2: "we gradually increase the allocation to find a new optimal value". Once a window, since older buckets
    come from the other size, or as soon as the step before is known to have gained. Not after a recent optimum: a
    pool of the right size is full in every burst, and would otherwise be grown and shrunk all the time. Later it is
    explored again, since what was best may have changed; too large for a few minutes costs little, too small costs as
    long as it lasts. An optimum from before the service changed does not count, nor one that starves its callers.
    Nothing is tried where another size is of no use, or lately gained nothing.
    """
    good = situation.last_good
    found_lately = good is not None and _known(situation) and _lately(good.at_ms, situation) and not situation.starving
    too_soon = situation.unchanged_ms < (EARLY_MS if situation.gained else situation.window_ms)
    direction = 0 if found_lately or too_soon else _direction(estimate, situation, current)
    if direction == 0:
        return Proposal(current, (Reason("KEPT", f"the current size {current} is kept"),))
    measured = situation.gained == direction
    if direction > 0:
        more = step(current)
        text = f"{more} more than {current}, to see beyond the pool's size"
        return Proposal(current + more, (Reason("EXPLORE", text),), explores=True, measured=measured)
    least, text = current - max(1, int(EXPLORE_SHARE * current)), f"{current} is always full, and no larger size gained"
    if situation.collapse is not None:
        least = max(math.ceil(HALF * current), situation.collapse.size)
        text = f"{current} completes less, full, than {situation.collapse.size} in flight did"
    return Proposal(max(1, least), (Reason("EXPLORE_DOWN", text),), explores=True, measured=measured)


def _direction(estimate: Estimate, situation: Situation, current: int) -> int:
    """Where a better size may lie: 1 above, -1 below, 0 where none is to be looked for.

    Up while the pool hides its curve. Down where it collapses when full; if that can as well be other requests than
    before, and if it is full all the time so that there is nothing to compare with, only after a step up has failed.
    """
    collapse, starving = situation.collapse, situation.starving
    up = (estimate.pool_limited or starving) and not situation.futile and not _lately(situation.failed_up_ms, situation)
    below = collapse.size < current if collapse is not None else starving and current > 1
    down = below and not situation.served and not _lately(situation.failed_down_ms, situation)
    if down and (situation.gained < 0 or (collapse is not None and collapse.repeated)):
        return -1
    if up:
        return 1
    return -1 if down and _lately(situation.failed_up_ms, situation) else 0


def _lately(at_ms: int | None, situation: Situation) -> bool:
    return at_ms is not None and situation.now_ms - at_ms < situation.explore_after_ms
