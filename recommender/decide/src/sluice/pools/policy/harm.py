"""The guard of last resort: it takes back a change by Sluice that makes a service worse, whatever the belief says.
Pure.

It counts completions without errors (`pace.py`), and nothing else. The operator's size is the reference: what it did
when Sluice left it is the measure of all other sizes on the same CPU limit.

COLLAPSED
  Within 2 min of a change by Sluice, one of these holds. Nothing completes for 5 s, and for 5 times as long as a
  request stayed, unless the guard just went back to this size, or targets report that the pool is idle. Or less than
  half of before completes over 3 s and a request's stay, and over the newest three beats, and the pool is full or its
  requests stay 1.5 times as long. The guard goes back to the size before. It refuses the new size and all beyond it for
  10 min, twice as long each time. The operator's size is not gone back to where a full pool of it completed less than
  the size in force does.
NO_GAIN
  Within 2 min of a change that shrank a crowded pool (crowded.py): less than 0.95 of before completes over 3 s and a
  request's stay, and the pool, which had more in flight, is full. The guard goes back, and refuses as for COLLAPSED,
  and for a minute all smaller sizes.
ERRORS_RISE
  Within 2 min of a change by Sluice: 5 errors over 3 s, a share of errors 2 points above that before, and more than
  two standard errors. The guard goes back, and refuses the size for an hour.
FEWER_IN_TIME
  Less than 0.7 of what completed in time at a larger size of the newest half minute does so at all sizes since, by
  callers' spans, over 3 s after a request's stay, while a size of Sluice's is in force. The larger size held two thirds
  of the callers, and as many call as did then, within a factor 1.3. The guard goes back to the one with the most, and
  refuses nothing: the choice (`in_time.py`) stays where callers' spans still show as much in time. A size that
  completed less than half of what the sizes since do is not gone back to: the SLO may be wrong.
CHECKED
  Less than 0.7 of the completions of the operator's larger size, in a pool that is neither full nor slower. This is
  over 30 s of all sizes since the operator's, and over the newest three beats. The demand may have fallen, or spans do
  not show what the pool holds. A look of 3 to 15 s at the operator's size tells which, and costs little where a pool is
  not full. If no more completes there, the demand fell; for 10 min, down to 0.7 of that gives no ground for another
  look. After silence, for which missing demand may be the cause, the smaller size is refused for 10 min. A service
  that is away does no harm. Nor does a pool in which next to nothing completes while its targets report it as idle. Nor
  does a smaller pool that its targets report as not full, with half as much in use as before or more: its requests go
  on, and what is missing are their spans. For a size larger than the operator's the limit is 0.3 instead of 0.7, since
  such a size completes all that comes unless it does harm; where most callers wait, it does not.
GAVE_UP
  The same in a pool that is smaller than the operator's and full or slower, or where the look showed more completions
  at the operator's size, beyond chance, than the size of ours had when it was full. The operator's size is held for
  10 min, twice as long each time, up to a day. A larger pool that is full or slower gets the look: requests may have
  become heavier, or callees slower while the load fell, and then the operator's size does no more.

A pool that drains to a smaller size, by a report of its targets, is not judged for a minute, unless nothing completes.

Worked: 100 a second at the operator's 32, then 16. Nothing completes: back after 5 s plus the delay of windows. 60 a
second, 16 in flight: GAVE_UP after 30 s. 60 a second, 6 in flight: 32 for 15 s; at 95 a second there GAVE_UP; at 61 the
demand fell, and there is no new look until under 43 a second complete.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from sluice.fast.worth import FULL_SHARE
from sluice.pools.policy.pace import LASTS_S, Beat, Pace, pace_of, pace_over, since
from sluice.pools.policy.scene import GuardVerdict, Scene, drains
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.trial import ERRORS_BY, TRIAL_MS, on_trial
from sluice.pools.policy.trust import (
    EXPECTED,
    REFUSED_MS,
    SEEN_S,
    OperatorLook,
    SizeRecord,
    Trust,
    giving_up,
    last_of_ours,
    refusing,
)

# Below this part of the operator's completions, the operator's is better.
FEWER = 0.7
# The same for a size larger than the operator's: if it is not full it completes all that comes, so a look is mostly in
# vain.
LARGER_FEWER = 0.3
# Below this part of the operator's completions a size completes next to nothing.
NEXT_TO_NOTHING = 0.1
# Requests stay longer than at the operator's size by this factor.
GUARD_SLOWER = 1.3
# Requests go on where targets report this part of what was in flight.
GOES_ON = 0.5
# Over the half minute, a full pool had this part of its size in flight.
FILLED = 0.7
# Length of a look at the operator's size in s, or shorter as soon as so many requests completed.
CHECK_S, CHECK_COMPLETIONS = 15.0, 50.0
# A look shows more at the operator's size only beyond so many standard errors. The demand of a real application moved
# by 1.8 within a look, and a pool with callers that waited stood at one connection for 10 min.
CHANCE_ERRORS = 3.0


def watched(trust: Trust, scene: Scene, now_ms: int) -> tuple[Trust, GuardVerdict | None]:
    """The next trust, and the action that the guard requires, None for none."""
    operator = trust.operator
    if operator is None:
        return trust, None
    if now_ms < trust.given_up_ms:
        left_s = (trust.given_up_ms - now_ms) // 1_000
        return trust, GuardVerdict(Case.GAVE_UP, operator, f"for {left_s} s more")
    if trust.check is not None:
        return _checked(trust, trust.check, operator, scene, now_ms)
    if scene.current == operator:
        return trust, None
    fewer = _fewer(trust, operator, scene, now_ms)
    if fewer is not None:
        return fewer
    return on_trial(trust, operator, scene, now_ms)


def _fewer(trust: Trust, operator: int, scene: Scene, now_ms: int) -> tuple[Trust, GuardVerdict | None] | None:
    """Whether the operator's size did more; None where it did not, or that is unknown."""
    did = trust.at(operator, scene.cores)
    if did is None or did.per_s * LASTS_S < EXPECTED:
        return None
    away = since(scene.beats, operator)
    does, newest = pace_over(away), pace_over(away[-3:])
    silent_ms = now_ms - max(scene.completed_ms or 0, trust.since_ms) - max(did.lag_ms, 0)
    silent = silent_ms >= 1_000 * LASTS_S
    no_harm = scene.unread or scene.idle or _goes_on(scene, operator, did, away)
    if (silent and no_harm) or drains(scene, trust, now_ms):
        return None
    if silent:
        does = newest = Pace(LASTS_S, 0.0, 0.0, 0.0, 0.0, 0.0)
    if does is None or newest is None or does.seconds < LASTS_S - SEEN_S:
        return None
    # Beats have their host's clock, which may be ahead of this one.
    newest_s = max(now_ms / 1_000, away[-1].second + 1 if away else 0)
    if not silent and newest_s - away[0].second < LASTS_S:
        return None
    if max(does.per_s, newest.per_s) >= FEWER * did.per_s:
        return None
    # Next to nothing counts as silence: while a service was away, its zeros are averaged with its next completions.
    next_to_nothing = does.per_s < NEXT_TO_NOTHING * did.per_s
    if next_to_nothing and scene.idle:
        return None
    by_demand = now_ms < trust.demand_until_ms and does.per_s >= FEWER * trust.demand_per_s
    sizes = sorted({beat.size for beat in away} or {scene.current})
    # A pool that was idle and has just filled completed less because less came.
    full = not silent and scene.full_share >= FULL_SHARE and does.in_flight >= FILLED * sizes[0]
    slow = full or (not silent and does.stay_s > GUARD_SLOWER * did.stay_s)
    harm = does.failed > did.failed + ERRORS_BY or (slow and scene.current < operator)
    at = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    why = f"{does.per_s:.3g}/s at {at}, {did.per_s:.3g}/s at {operator}"
    if harm:
        return given_up(trust, operator, why, now_ms)
    does_all = scene.current > operator and not slow and not scene.most_wait
    if by_demand or (does_all and does.per_s >= LARGER_FEWER * did.per_s):
        return None
    seen_per_s = 0.0 if next_to_nothing else does.per_s
    return replace(trust, check=OperatorLook(now_ms, seen_per_s)), GuardVerdict(Case.CHECKED, operator, why)


def _goes_on(scene: Scene, operator: int, did: SizeRecord, away: tuple[Beat, ...]) -> bool:
    """Whether requests go on without spans, as while Flink is away or the service's clock is an hour wrong. A smaller
    pool does harm only by being full, and one that nothing leaves stays full. Where its targets report less in use than
    half of before, requests are missing, too.

    Worked: 6 in flight of 16, then silence: with 3 in use, requests go on; with 2, or 16 of 16, they may not. A pool
    whose last beats are forgotten is measured by the operator's record: 100 a second of 0.32 s are 32 in flight.
    """
    if scene.in_use is None or scene.current >= operator:
        return False
    before = pace_over(beat for beat in away if beat.good > 0)
    in_flight = did.per_s * did.stay_s if before is None else before.in_flight
    return in_flight > 0 and scene.in_use >= GOES_ON * in_flight


def _checked(
    trust: Trust, check: OperatorLook, operator: int, scene: Scene, now_ms: int
) -> tuple[Trust, GuardVerdict | None]:
    """Continues a look at the operator's size, until it is over."""
    looks = GuardVerdict(Case.CHECKED, operator, f"{check.per_s:.3g}/s at the size before")
    if scene.current != operator or trust.since_ms < check.at_ms:
        # The look ends where a target does not follow.
        return (replace(trust, check=None), None) if now_ms - check.at_ms > TRIAL_MS else (trust, looks)
    does = pace_of(scene.beats, operator, -(-trust.since_ms // 1_000))
    over = now_ms - trust.since_ms > 1_000 * (LASTS_S + CHECK_S)
    enough = does is not None and does.seconds >= SEEN_S and does.per_s * does.seconds >= CHECK_COMPLETIONS
    if not (enough or over or (does is not None and does.seconds >= CHECK_S)):
        return trust, looks
    per_s = does.per_s if does is not None else 0.0
    if per_s * LASTS_S >= EXPECTED and check.per_s == 0:
        # Either nothing arrived or nothing ended. That more arrives now may be chance, so only the size is refused.
        return _after_silence(trust, operator, now_ms), None
    less = max(check.per_s, scene.when_full_per_s) < FEWER * per_s
    if does is not None and less and per_s * LASTS_S >= EXPECTED and _beyond_chance(does, check.per_s):
        return given_up(trust, operator, f"{check.per_s:.3g}/s at the size before, {per_s:.3g}/s at {operator}", now_ms)
    demand = max(per_s, check.per_s)
    return replace(trust, check=None, demand_per_s=demand, demand_until_ms=now_ms + REFUSED_MS), None


def _beyond_chance(look: Pace, before_per_s: float) -> bool:
    """Whether a look completed more than the half minute before it, by more than chance: counts of completions have
    their own size as variance, as those of a Poisson process.

    Worked: 95 a second for 3 s after 60 a second for 30 s are 35 more, 6.0 standard errors of 5.8. 2.42 for 15 s
    after 1.58 are 0.84 more, 1.8 of 0.46.
    """
    error = sqrt(look.per_s / look.seconds + before_per_s / LASTS_S)
    return look.per_s - before_per_s > CHANCE_ERRORS * error


def _after_silence(trust: Trust, operator: int, now_ms: int) -> Trust:
    size = last_of_ours(trust)
    trust = replace(trust, check=None)
    return trust if size is None else refusing(trust, size, operator, REFUSED_MS, now_ms)


def given_up(trust: Trust, operator: int, why: str, now_ms: int) -> tuple[Trust, GuardVerdict]:
    """The operator's size is held from now on."""
    return giving_up(trust, now_ms), GuardVerdict(Case.GAVE_UP, operator, why)
