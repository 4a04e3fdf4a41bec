"""Which size to propose for each state of an estimate. Missing data never becomes a size of 0, and never a shrink."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sluice.estimate import Estimate, Reason, State
from sluice.estimate.memory import Kind, Prior

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


@dataclass(frozen=True)
class Proposal:
    """A size on its way to the guard; None when there is nothing to apply."""

    target: int | None
    reasons: tuple[Reason, ...]
    explores: bool = False


def propose(estimate: Estimate, situation: Situation) -> Proposal:
    """PROVIDED: the estimate's target. UNSATURATED: the current size, a step above, or back. Else: what was best."""
    if estimate.state is State.PROVIDED:
        return Proposal(estimate.target, ())
    if estimate.state is State.UNSATURATED and situation.current is not None:
        return _keep_or_explore(estimate, situation, situation.current)
    good, prior = situation.last_good, situation.prior
    if prior is not None and not _known(situation):
        return _remembered(prior)
    if good is None:
        return Proposal(None, ())
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

    A scaled optimum is a guess, so it leads at most one step away from the one that was seen. Worked: 12 at 1 core
    is 24 at 2 cores -> 15, and 6 at half a core -> 9.
    """
    seen = prior.found.target
    if prior.kind is Kind.SAME:
        return Proposal(prior.target, (Reason("REMEMBERED", f"{prior.target} was best before with {prior.footing}"),))
    target = min(max(prior.target, seen - step(seen)), seen + step(seen))
    text = f"{seen} was best with {prior.footing}, by the CPU limit {prior.target} now: a step to {max(1, target)}"
    return Proposal(max(1, target), (Reason("REMEMBERED_SCALED", text),))


def _keep_or_explore(estimate: Estimate, situation: Situation, current: int) -> Proposal:
    """Grow a pool that hides its curve by a step, once a window, unless an optimum was found not long ago.

    Sora 3.2: "we gradually increase the allocation to find a new optimal value". Once a window, since older buckets
    come from the smaller pool. Not after a recent optimum: a pool of the right size is full in every burst, and
    would otherwise be grown and shrunk all the time. Later it is explored again, since what was best may have
    changed; too large for a few minutes costs little, too small costs as long as it lasts. An optimum from before the
    service changed does not count. A step that gained nothing is taken back, and not tried again for as long.
    """
    if situation.back is not None and situation.back < current:
        text = f"{current} completes no more than {situation.back} did"
        return Proposal(situation.back, (Reason("WENT_BACK", text),))
    good = situation.last_good
    known_ms = max(good.at_ms if good is not None and _known(situation) else 0, situation.failed_ms or 0)
    found_lately = known_ms > 0 and situation.now_ms - known_ms < situation.explore_after_ms
    if not estimate.pool_limited or found_lately or situation.unchanged_ms < situation.window_ms:
        return Proposal(current, (Reason("KEPT", f"the current size {current} is kept"),))
    more = step(current)
    text = f"{more} more than {current}, to see beyond the pool's size"
    return Proposal(current + more, (Reason("EXPLORE", text),), explores=True)
