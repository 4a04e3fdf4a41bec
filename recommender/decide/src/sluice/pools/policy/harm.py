"""The guard of last resort: it takes back a change by Sluice that makes a service worse, whatever the belief says.
Pure.

It counts completions without errors (`pace.py`), and nothing else. The operator's size is the reference: what it did
when Sluice left it is the measure of all other sizes on the same CPU limit.

COLLAPSED
  Within 2 min of a change by Sluice, one of these holds. Nothing completes for 5 s, and for 5 times as long as a
  request stayed, unless the guard just went back to this size. Or less than half of before completes over 3 s and a
  request's stay, and over the newest three beats, and the pool is full or its requests stay 1.5 times as long. The
  guard goes back to the size before. It refuses the new size and all beyond it for 10 min, twice as long each time.
  The operator's size is not gone back to where a full pool of it completed less than the size in force does.
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
  that is away does no harm. Nor does a smaller pool that its targets report as not full, with half as much in use as
  before or more: its requests go on, and what is missing are their spans. For a size larger than the operator's the
  limit is 0.3 instead of 0.7, since such a size completes all that comes unless it does harm.
GAVE_UP
  The same in a pool that is smaller than the operator's and full or slower, or where the look showed more completions
  at the operator's size than the size of ours had when it was full. The operator's size is held for 10 min, twice as
  long each time, up to a day. A larger pool that is full or slower gets the look: requests may have become heavier, or
  callees slower while the load fell, and then the operator's size does no more.

A pool that drains to a smaller size, by a report of its targets, is not judged for a minute, unless nothing completes.

Worked: 100 a second at the operator's 32, then 16. Nothing completes: back after 5 s plus the delay of windows. 60 a
second, 16 in flight: GAVE_UP after 30 s. 60 a second, 6 in flight: 32 for 15 s; at 95 a second there GAVE_UP; at 61 the
demand fell, and there is no new look until under 43 a second complete.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt

from sluice.fast.worth import FULL_SHARE
from sluice.pools.policy.pace import (
    LASTS_S,
    NEWEST,
    Beat,
    Pace,
    Timely,
    after_a_stay,
    pace_of,
    pace_over,
    since,
    timely_over,
    visit,
)
from sluice.pools.policy.transitions import Case

# Below COLLAPSED_TO of the completions before, a change collapsed. Below FEWER of the operator's, the operator's is
# better.
COLLAPSED_TO, FEWER = 0.5, 0.7
# The same for a size larger than the operator's: if it is not full it completes all that comes, so a look is mostly in
# vain.
LARGER_FEWER = 0.3
# Below this part of the operator's completions a size completes next to nothing.
NEXT_TO_NOTHING = 0.1
# How long a change is on trial, how long it must be seen to be judged, and what counts as silence (ms, and stays of a
# request).
TRIAL_MS, SEEN_S, SILENT_MS, SILENT_STAYS = 120_000, 3.0, 5_000, 5.0
# So long a pool that drains is not judged by the operator's size: the size in force is not what it holds.
DRAINS_MS = 60_000
# Requests stay longer by these factors: against before the change, and against the operator's size.
SLOWER, GUARD_SLOWER = 1.5, 1.3
# Requests go on where targets report this part of what was in flight.
GOES_ON = 0.5
# Expected completions from which on their absence means something.
EXPECTED = 10.0
# Over the half minute, a full pool had this part of its size in flight.
FILLED = 0.7
# Length of a look at the operator's size in s, or shorter as soon as so many requests completed.
CHECK_S, CHECK_COMPLETIONS = 15.0, 50.0
ERRORS, ERRORS_BY, ERRORS_SURE = 5.0, 0.02, 2.0
# Callers in flight by requests in the pool, up to which the pool holds nearly all that call. As many call where their
# number is within ALIKE.
HOLDS, ALIKE = 1.5, 1.3
REFUSED_MS, ERRORS_REFUSED_MS, GIVEN_UP_MS, LONGEST_MS = 600_000, 3_600_000, 600_000, 86_400_000
# How many measured and how many refused sizes are kept.
MOST_MEASURED, MOST_REFUSED = 8, 8


@dataclass(frozen=True)
class SizeRecord:
    """The pace of a size when it was left, as in `Pace`. lag_ms: the delay of windows at that time."""

    size: int
    per_s: float
    stay_s: float
    failed: float
    cores: float
    lag_ms: int = 0


@dataclass(frozen=True)
class RefusedSize:
    """A size that did harm. It, and all beyond it as seen from `from_size`, are not chosen before `until_ms`."""

    size: int
    from_size: int
    until_ms: int
    times: int = 1

    def holds(self, size: int) -> bool:
        """Whether the refusal covers a size."""
        return size <= self.size if self.size < self.from_size else size >= self.size


@dataclass(frozen=True)
class OperatorLook:
    """A look at the operator's size. per_s: completions at the size that was left."""

    at_ms: int
    per_s: float


@dataclass(frozen=True)
class Trust:
    """The guard's knowledge of a pool.

    operator: the operator's size. since_ms: when the size in force was first read. measured: oldest first.
    demand_per_s: the demand that a look showed; it counts until `demand_until_ms`. given_up_ms: until when the
    operator's size is held; times: how often, of late.
    """

    operator: int | None = None
    since_ms: int = 0
    measured: tuple[SizeRecord, ...] = ()
    refused: tuple[RefusedSize, ...] = ()
    check: OperatorLook | None = None
    demand_per_s: float = 0.0
    demand_until_ms: int = 0
    given_up_ms: int = 0
    times: int = 0

    def at(self, size: int, cores: float) -> SizeRecord | None:
        """The record of a size on this CPU limit; None where it was not measured."""
        return next((record for record in self.measured if record.size == size and record.cores == cores), None)

    def refuses(self, size: int, now_ms: int) -> bool:
        """Whether a size is refused at `now_ms`."""
        return any(refusal.holds(size) for refusal in self.refused if now_ms < refusal.until_ms)


@dataclass(frozen=True)
class GuardVerdict:
    """The guard's requirement: a case of the table, and a size. why: figures for people."""

    case: Case
    size: int
    why: str = ""


@dataclass(frozen=True)
class Scene:
    """The data that the guard judges by.

    - current: the size in force. from_size: the size before Sluice's last change while that is in force, else None.
    - beats: of the newest half minute. completed_ms: time of the last completion without an error, None before the
      first.
    - full_share: of the newest seconds, 0..1. lag_ms: the delay of windows.
    - unread: no target reports its size any more. The service is away, and no change caused its silence.
    - when_full_per_s: the most that the pool completed while it was full, at the last size of ours or a smaller one. 0
      where it never was.
    - before: the size before by the evidence of a full pool, None without any.
    - drains: a target reports more in use than the size: what it held under a larger size has not ended.
    - operator_full_per_s: the most that the operator's size completed while it was full; infinite where it never was.
    - in_use: mean of half a minute by the targets' reports, where these do not have the pool full; None without them.
    """

    current: int
    from_size: int | None
    beats: tuple[Beat, ...]
    completed_ms: int | None
    full_share: float
    cores: float
    lag_ms: int
    unread: bool = False
    when_full_per_s: float = 0.0
    before: SizeRecord | None = None
    drains: bool = False
    operator_full_per_s: float = inf
    in_use: float | None = None


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
    return _on_trial(trust, operator, scene, now_ms)


def _on_trial(trust: Trust, operator: int, scene: Scene, now_ms: int) -> tuple[Trust, GuardVerdict | None]:
    """Whether the last change did harm. Where the size before was not measured, the evidence of it is the measure, and
    without that the operator's size, as where an actuator takes steps of its own. Evidence does not count errors."""
    if scene.from_size is None or now_ms - trust.since_ms > TRIAL_MS:
        return trust, None
    record = trust.at(scene.from_size, scene.cores) or trust.at(operator, scene.cores)
    before = trust.at(scene.from_size, scene.cores) or scene.before or record
    pace = pace_of(scene.beats, scene.current, -(-trust.since_ms // 1_000))
    if before is not None and before.size == operator and pace is not None and scene.full_share >= FULL_SHARE:
        # A record may be of a light load. What a full pool of it completed says what it is worth now.
        before = None if scene.operator_full_per_s < pace.per_s else before
    why = _collapsed(before, pace, scene, trust, now_ms) if before is not None else ""
    if before is not None and why:
        verdict = GuardVerdict(Case.COLLAPSED, before.size, why)
        return _back(trust, verdict, operator, scene.current, REFUSED_MS, now_ms)
    if record is not None and pace is not None and pace.seconds >= SEEN_S and errors_rise(record, pace):
        why = f"{pace.failed:.0%} at {scene.current}, {record.failed:.0%} at {record.size}"
        verdict = GuardVerdict(Case.ERRORS_RISE, record.size, why)
        return _back(trust, verdict, operator, scene.current, ERRORS_REFUSED_MS, now_ms)
    return trust, _less_in_time(trust, scene, now_ms)


def _less_in_time(trust: Trust, scene: Scene, now_ms: int) -> GuardVerdict | None:
    """Whether more completed in time at a larger size of the newest half minute than at all sizes since: back to the
    one with the most."""
    if not any(beat.judged for beat in scene.beats):
        return None  # most pools: their requests are quick against the SLO
    larger = {beat.size for beat in scene.beats if beat.size > scene.current and not trust.refuses(beat.size, now_ms)}
    did: dict[int, tuple[float, float]] = {}
    for size in sorted(larger):
        away = after_a_stay(since(scene.beats, size))
        before, after = timely_over(visit(scene.beats, size)[-NEWEST:]), timely_over(away)
        seen = sum(beat.length_s for beat in away) >= SEEN_S
        if seen and before is not None and after is not None and fewer_in_time(before, after):
            did[size] = before.in_time_per_s, after.in_time_per_s
    if not did:
        return None
    size = max(did, key=lambda size: did[size][0])
    why = f"{did[size][1]:.3g}/s in time since {size}, {did[size][0]:.3g}/s at it"
    return GuardVerdict(Case.FEWER_IN_TIME, size, why)


def fewer_in_time(before: Timely, after: Timely) -> bool:
    """Whether fewer complete in time at a smaller size. Worked: 850 a second, 650 of them in time, for 103 callers of
    whom 90 are in the pool; then 1,010 a second for 104 callers, 250 of them in time: fewer. 0.6 a second in time
    before and none after are too few to tell."""
    held = before.callers <= HOLDS * before.in_flight
    alike = max(before.callers, after.callers) <= ALIKE * min(before.callers, after.callers)
    fewer = after.in_time_per_s < FEWER * before.in_time_per_s and before.in_time_per_s * SEEN_S >= EXPECTED
    return held and alike and fewer and before.per_s >= COLLAPSED_TO * after.per_s


def _drains(scene: Scene, trust: Trust, now_ms: int) -> bool:
    """Whether the pool drains to the size in force, for a minute at most: some requests may never end."""
    return scene.drains and now_ms - trust.since_ms <= DRAINS_MS


def _went_back(trust: Trust, scene: Scene, now_ms: int) -> bool:
    """Whether the last change is the guard's, back to this size. Silence there too has another cause, mostly: half a
    minute of it is looked at (`_fewer`)."""
    return any(
        (refusal.size, refusal.from_size) == (scene.from_size, scene.current) and now_ms < refusal.until_ms
        for refusal in trust.refused
    )


def _collapsed(record: SizeRecord, pace: Pace | None, scene: Scene, trust: Trust, now_ms: int) -> str:
    """Why the change collapsed, "" where it did not. A pool that drains collapses only where nothing completes, a size
    that the guard went back to only where too little does."""
    silent_ms = max(float(SILENT_MS), SILENT_STAYS * 1_000 * record.stay_s)
    good = pace is not None and pace.per_s > 0
    waited_ms = now_ms - trust.since_ms - max(record.lag_ms, 0)
    judges = not scene.unread and not _went_back(trust, scene, now_ms)
    expected = record.per_s * waited_ms / 1_000
    if not good and judges and waited_ms >= silent_ms and expected >= EXPECTED:
        return f"nothing completed at {scene.current} in {waited_ms // 1_000} s, {record.per_s:.3g}/s at {record.size}"
    if pace is None or pace.seconds < max(SEEN_S, record.stay_s) or record.per_s * pace.seconds < EXPECTED:
        return ""
    if _drains(scene, trust, now_ms):
        return ""
    slower = scene.full_share >= FULL_SHARE or pace.stay_s > SLOWER * record.stay_s
    newest = pace_over(scene.beats[-3:])
    now_per_s = pace.per_s if newest is None else max(pace.per_s, newest.per_s)
    if slower and now_per_s < COLLAPSED_TO * record.per_s:
        return f"{pace.per_s:.3g}/s at {scene.current}, {record.per_s:.3g}/s at {record.size}"
    return ""


def errors_rise(record: SizeRecord, pace: Pace) -> bool:
    """Whether errors rose. Worked: none failed before, 5 of 100 after: 5 > 2 sqrt(0 + 1). 12 % before, 15 of 100: 3 < 2
    sqrt(10.6 + 1)."""
    if pace.errors < ERRORS or pace.failed < record.failed + ERRORS_BY:
        return False
    expected = record.failed * pace.completions
    return pace.errors - expected > ERRORS_SURE * sqrt(expected * (1 - record.failed) + 1)


def _back(
    trust: Trust, verdict: GuardVerdict, operator: int, current: int, refused_ms: int, now_ms: int
) -> tuple[Trust, GuardVerdict]:
    """Goes back from the current size to the verdict's, or to the operator's where that one is refused too."""
    trust = refusing(trust, current, verdict.size, refused_ms, now_ms)
    return trust, replace(verdict, size=operator) if trust.refuses(verdict.size, now_ms) else verdict


def refusing(trust: Trust, size: int, from_size: int, lasts_ms: int, now_ms: int) -> Trust:
    """Refuses a size, twice as long each time that the same one is refused within a day."""
    refusal_before = next(
        (refusal for refusal in trust.refused if refusal.size == size and refusal.from_size == from_size), None
    )
    times = 1 if refusal_before is None or now_ms - refusal_before.until_ms > LONGEST_MS else refusal_before.times + 1
    until_ms = now_ms + min(lasts_ms * 2 ** (times - 1), LONGEST_MS)
    others = tuple(refusal for refusal in trust.refused if refusal is not refusal_before)
    return replace(trust, refused=(*others, RefusedSize(size, from_size, until_ms, times))[-MOST_REFUSED:])


def _fewer(trust: Trust, operator: int, scene: Scene, now_ms: int) -> tuple[Trust, GuardVerdict | None] | None:
    """Whether the operator's size did more; None where it did not, or that is unknown."""
    did = trust.at(operator, scene.cores)
    if did is None or did.per_s * LASTS_S < EXPECTED:
        return None
    away = since(scene.beats, operator)
    does, newest = pace_over(away), pace_over(away[-3:])
    silent_ms = now_ms - max(scene.completed_ms or 0, trust.since_ms) - max(did.lag_ms, 0)
    silent = silent_ms >= 1_000 * LASTS_S
    if (silent and (scene.unread or _goes_on(scene, operator, did, away))) or _drains(scene, trust, now_ms):
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
    larger = scene.current > operator and not slow and does.per_s >= LARGER_FEWER * did.per_s
    if by_demand or larger:
        return None
    # Next to nothing counts as silence: while a service was away, its zeros are averaged with its next completions.
    seen_per_s = does.per_s if does.per_s >= NEXT_TO_NOTHING * did.per_s else 0.0
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
    if per_s * LASTS_S >= EXPECTED and max(check.per_s, scene.when_full_per_s) < FEWER * per_s:
        return given_up(trust, operator, f"{check.per_s:.3g}/s at the size before, {per_s:.3g}/s at {operator}", now_ms)
    demand = max(per_s, check.per_s)
    return replace(trust, check=None, demand_per_s=demand, demand_until_ms=now_ms + REFUSED_MS), None


def _after_silence(trust: Trust, operator: int, now_ms: int) -> Trust:
    size = last_of_ours(trust)
    trust = replace(trust, check=None)
    return trust if size is None else refusing(trust, size, operator, REFUSED_MS, now_ms)


def last_of_ours(trust: Trust) -> int | None:
    """The last measured size that Sluice set, None without one."""
    return next((record.size for record in reversed(trust.measured) if record.size != trust.operator), None)


def given_up(trust: Trust, operator: int, why: str, now_ms: int) -> tuple[Trust, GuardVerdict]:
    """Holds the operator's size, twice as long each time within a day of the last one."""
    times = 1 if now_ms - trust.given_up_ms > LONGEST_MS else trust.times + 1
    until_ms = now_ms + min(GIVEN_UP_MS * 2 ** (times - 1), LONGEST_MS)
    trust_now = replace(trust, check=None, given_up_ms=until_ms, times=times)
    return trust_now, GuardVerdict(Case.GAVE_UP, operator, why)


def in_force(trust: Trust, current: int | None, last: int | None, foreign: bool, now_ms: int) -> Trust:
    """Takes in the size in force as read: a size that somebody else set becomes the operator's. before:
    the last one."""
    if current is None:
        return trust
    if trust.operator is None or foreign:
        return Trust(operator=current, since_ms=now_ms, measured=trust.measured)
    return trust if current == last else replace(trust, since_ms=now_ms)


def left(trust: Trust, size: int, beats: tuple[Beat, ...], cores: float, lag_ms: int) -> Trust:
    """Records the pace of a size that is left now. With too many records, drops the oldest that is not of the
    operator's size.

    A size of ours that was seen for under 3 s has no record, so the next change is judged by the operator's size:
    windows that are 5 s old show one second of 13 when 14 follows, and errors at 14 would count as usual. A second of
    the operator's size in which all requests failed leaves its record as it was: nothing could be compared with it.

    The first stay of a request at the size does not count: what completes then began among fewer in flight.
    """
    seen = visit(beats, size)
    does = pace_over(after_a_stay(seen))
    if does is None or does.completions <= 0:
        return trust
    tells_nothing = trust.at(size, cores) is not None and does.per_s * LASTS_S < EXPECTED
    if (size != trust.operator or tells_nothing) and sum(beat.length_s for beat in seen) < SEEN_S:
        return trust
    of = SizeRecord(size, does.per_s, does.stay_s, does.failed, cores, lag_ms)
    others = [record for record in trust.measured if (record.size, record.cores) != (size, cores)]
    while len(others) >= MOST_MEASURED:
        others.remove(next((record for record in others if record.size != trust.operator), others[0]))
    return replace(trust, measured=(*others, of))
