"""Which size to propose for each state of an estimate. Missing data never becomes a size of 0, and never a shrink."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sluice.estimate import Estimate, Reason, State
from sluice.estimate.memory import MOST_GROWTH, Carried, Kind, Prior
from sluice.guard.exploration import EARLY_MS

# One step of exploration: a quarter of the current size, rounded up.
EXPLORE_SHARE = 0.25
# An estimate on new ground takes at least 100 buckets of 50 ms: a younger one was made before the change was told.
SOONEST_MS = 5_000


@dataclass(frozen=True)
class LastGood:
    """The newest target that came from a curve; `at_ms`: Unix time of the estimate."""

    target: int
    at_ms: int


@dataclass(frozen=True)
class Situation:
    """What is known of a pool beside its estimate.

    current         size that an actuator read back within the last minute, None when unknown
    unchanged_ms    how long that size has been in force, as far as reports go
    since_change_ms how long ago the size was seen to change, None when it never was
    since_ms        when the service last became another one: scaled, released, drifted; None when it never did
    prior           what remembered curves say, None without any that fits
    back            the size before an exploration that gained nothing, None without one
    failed_ms       when an exploration last gained nothing, None when none did
    stands_ms       when the exploration began that led to the current size, None where none did or it was taken back
    carried         what a size in force on another footing says, None without one
    short_lately    whether the pool was full often in the newest seconds and then completed most, on whatever footing
    gained          whether the exploration that led to the current size is known to have gained
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
    failed_ms: int | None = None
    stands_ms: int | None = None
    carried: Carried | None = None
    short_lately: bool = False
    gained: bool = False
    starving: bool = False
    futile: bool = False


@dataclass(frozen=True)
class Proposal:
    """A size on its way to the guard; None when there is nothing to apply."""

    target: int | None
    reasons: tuple[Reason, ...]
    explores: bool = False


def propose(estimate: Estimate, situation: Situation) -> Proposal:
    """PROVIDED: the estimate's target. UNSATURATED: the current size, a step above, or back. Else: what was best.

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
    if situation.starving and situation.current is not None and (situation.prior is None or _known(situation)):
        return _keep_or_explore(estimate, situation, situation.current)
    good, prior = situation.last_good, situation.prior
    if prior is not None and not _known(situation):
        return _remembered(prior)
    if good is None:
        return Proposal(None, ())
    if situation.current is not None and situation.stands_ms is not None and situation.stands_ms > good.at_ms:
        text = f"{situation.current} was grown to after {good.target} was found, and stands"
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
    """Grow a pool that hides its curve by a step, once a window, unless an optimum was found not long ago.

    Sora 3.2: "we gradually increase the allocation to find a new optimal value". Once a window, since older buckets
    come from the smaller pool, or as soon as the step before is known to have gained. Not after a recent optimum: a
    pool of the right size is full in every burst, and would otherwise be grown and shrunk all the time. Later it is
    explored again, since what was best may have changed; too large for a few minutes costs little, too small costs as
    long as it lasts. An optimum from before the service changed does not count. A step that gained nothing is taken
    back, and not tried again for as long. Nothing is tried where a larger pool is of no use.
    """
    if situation.back is not None and situation.back < current:
        text = f"{current} completes no more than {situation.back} did"
        return Proposal(situation.back, (Reason("WENT_BACK", text),))
    good = situation.last_good
    known_ms = max(good.at_ms if good is not None and _known(situation) else 0, situation.failed_ms or 0)
    found_lately = known_ms > 0 and situation.now_ms - known_ms < situation.explore_after_ms
    too_soon = situation.unchanged_ms < (EARLY_MS if situation.gained else situation.window_ms)
    wanted = (estimate.pool_limited or situation.starving) and not situation.futile
    if not wanted or found_lately or too_soon:
        return Proposal(current, (Reason("KEPT", f"the current size {current} is kept"),))
    more = step(current)
    text = f"{more} more than {current}, to see beyond the pool's size"
    return Proposal(current + more, (Reason("EXPLORE", text),), explores=True)
