"""Whether Sluice's last change did harm: COLLAPSED, NO_GAIN, ERRORS_RISE and FEWER_IN_TIME of the guard (`harm.py`).
Pure.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from sluice.fast.worth import FULL_SHARE
from sluice.pools.policy.pace import (
    NEWEST,
    Pace,
    Timely,
    after_a_stay,
    pace_of,
    pace_over,
    since,
    timely_over,
    visit,
)
from sluice.pools.policy.scene import DRAINS_MS, GuardVerdict, Scene, drains
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.trust import EXPECTED, REFUSED_MS, SEEN_S, SizeRecord, Trust, refusing

# Below COLLAPSED_TO of the completions before, a change collapsed; below FEWER_IN_TIME of those in time, it did harm.
COLLAPSED_TO, FEWER_IN_TIME = 0.5, 0.7
# A crowded pool was expected to complete 1.1 times as much, so this is no gain beyond what counts of 3 s tell.
GAIN = 0.95
# Ten buckets of 0.1 s are no whole second by floating point.
NEARLY = 0.99
# How long a change is on trial, and what counts as silence (ms, and stays of a request).
TRIAL_MS, SILENT_MS, SILENT_STAYS = 120_000, 5_000, 5.0
# Requests stay longer than before the change by this factor.
SLOWER = 1.5
ERRORS, ERRORS_BY, ERRORS_SURE = 5.0, 0.02, 2.0
ERRORS_REFUSED_MS = 3_600_000
# Callers in flight by requests in the pool, up to which the pool holds nearly all that call. As many call where their
# number is within ALIKE.
HOLDS, ALIKE = 1.5, 1.3


def on_trial(trust: Trust, operator: int, scene: Scene, now_ms: int) -> tuple[Trust, GuardVerdict | None]:
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
    if why := _no_gain(scene.from_size, pace, scene, trust, now_ms):
        verdict = GuardVerdict(Case.NO_GAIN, scene.from_size, why)
        # Callers that waited fill the pool when it is back, which is no reason for another smaller size.
        trust = refusing(trust, scene.from_size - 1, scene.from_size, DRAINS_MS, now_ms)
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
    fewer = after.in_time_per_s < FEWER_IN_TIME * before.in_time_per_s and before.in_time_per_s * SEEN_S >= EXPECTED
    return held and alike and fewer and before.per_s >= COLLAPSED_TO * after.per_s


def _went_back(trust: Trust, scene: Scene, now_ms: int) -> bool:
    """Whether the last change is the guard's, back to this size. Silence there too has another cause, mostly: half a
    minute of it is looked at (`_fewer`)."""
    return any(
        (refusal.size, refusal.from_size) == (scene.from_size, scene.current) and now_ms < refusal.until_ms
        for refusal in trust.refused
    )


def _collapsed(record: SizeRecord, pace: Pace | None, scene: Scene, trust: Trust, now_ms: int) -> str:
    """Why the change collapsed, "" where it did not. A pool that drains collapses only where nothing completes; a size
    that the guard went back to, and an idle pool, only where too little does."""
    silent_ms = max(float(SILENT_MS), SILENT_STAYS * 1_000 * record.stay_s)
    good = pace is not None and pace.per_s > 0
    waited_ms = now_ms - trust.since_ms - max(record.lag_ms, 0)
    judges = not (scene.unread or scene.idle or _went_back(trust, scene, now_ms))
    expected = record.per_s * waited_ms / 1_000
    if not good and judges and waited_ms >= silent_ms and expected >= EXPECTED:
        return f"nothing completed at {scene.current} in {waited_ms // 1_000} s, {record.per_s:.3g}/s at {record.size}"
    if pace is None or pace.seconds < max(SEEN_S, record.stay_s) or record.per_s * pace.seconds < EXPECTED:
        return ""
    if drains(scene, trust, now_ms):
        return ""
    slower = scene.full_share >= FULL_SHARE or pace.stay_s > SLOWER * record.stay_s
    newest = pace_over(scene.beats[-3:])
    now_per_s = pace.per_s if newest is None else max(pace.per_s, newest.per_s)
    if slower and now_per_s < COLLAPSED_TO * record.per_s:
        return f"{pace.per_s:.3g}/s at {scene.current}, {record.per_s:.3g}/s at {record.size}"
    return ""


def _no_gain(left: int, pace: Pace | None, scene: Scene, trust: Trust, now_ms: int) -> str:
    """Why shrinking a pool that was never full gains nothing, "" where it does, or nobody can tell. The pool has to be
    full now.

    Worked: 95 a second of 0.5 s at 64 are 48 in flight, and 32 complete 64 a second: under 0.95 of 95, so back.
    """
    if not scene.shrunk or scene.full_share < FULL_SHARE or drains(scene, trust, now_ms):
        return ""
    before = pace_over(visit(scene.beats, left)[-NEWEST:])
    if before is None or pace is None or pace.seconds < NEARLY * max(SEEN_S, before.stay_s):
        return ""
    if pace.per_s >= GAIN * before.per_s:
        return ""
    return f"{pace.per_s:.3g}/s at {scene.current}, {before.per_s:.3g}/s at {left}"


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
