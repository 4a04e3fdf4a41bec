"""The guard of last resort: each verdict with its numbers by hand, and whatever completes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.pools.policy.harm import given_up, watched
from sluice.pools.policy.pace import Beat, Pace
from sluice.pools.policy.scene import DRAINS_MS, GuardVerdict, Scene
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.trial import ERRORS_REFUSED_MS, errors_rise
from sluice.pools.policy.trust import (
    GIVEN_UP_MS,
    LONGEST_MS,
    MOST_MEASURED,
    REFUSED_MS,
    OperatorLook,
    RefusedSize,
    SizeRecord,
    Trust,
    in_force,
    left,
    refusing,
)

# A whole second.
T0 = 1_700_000_000_000
S0 = T0 // 1_000
DAY_MS = 86_400_000
# 100 a second of 0.32 s each: 32 in flight.
AT_32 = SizeRecord(32, 100.0, 0.32, 0.0, 4.0)
TRUST = Trust(32, T0, (AT_32,))


def beats(size: int, seconds: int, good: float, in_flight: float, failed: float = 0.0, since: int = S0) -> list[Beat]:
    return [Beat(since + at, size, good, failed, in_flight, 1.0) for at in range(seconds)]


def scene(
    size: int,
    *found: Beat,
    from_size: int | None = 32,
    completed_ms: int | None = None,
    full: float = 0.0,
    cores: float = 4.0,
    lag_ms: int = 0,
) -> Scene:
    done = [1_000 * (beat.second + 1) for beat in found if beat.good > 0]
    completed_ms = completed_ms or max(done, default=None)
    return Scene(size, from_size, tuple(found), completed_ms, full, cores, lag_ms)


def judged(trust: Trust, shown: Scene, after_s: float) -> tuple[Trust, GuardVerdict | None]:
    return watched(trust, shown, T0 + round(1_000 * after_s))


def test_silence_for_5_s_is_a_collapse() -> None:
    assert judged(TRUST, scene(16), 4.9)[1] is None
    trust, verdict = judged(TRUST, scene(16), 5.0)
    assert verdict == GuardVerdict(Case.COLLAPSED, 32, "nothing completed at 16 in 5 s, 100/s at 32")
    assert trust.refused == (RefusedSize(16, 32, T0 + 5_000 + REFUSED_MS),)


def test_silence_at_a_size_that_was_gone_back_to_is_looked_at_after_half_a_minute() -> None:
    """24 was silent, and so is 16, which did 100 a second. The operator's size would be next, though what is silent is
    the pipeline."""
    refused = (RefusedSize(24, 16, T0 + REFUSED_MS),)
    back = replace(TRUST, measured=(AT_32, replace(AT_32, size=16)), refused=refused)
    assert judged(back, scene(16, from_size=24), 29.9)[1] is None
    assert judged(back, scene(16, from_size=24), 30)[1].case is Case.CHECKED
    assert judged(back, replace(scene(16, from_size=24), in_use=16.0), 30)[1] is None
    # By a choice, or after another size was refused.
    assert judged(replace(back, refused=()), scene(16, from_size=24), 5)[1].case is Case.COLLAPSED
    assert judged(back, scene(16, from_size=32), 5)[1].case is Case.COLLAPSED


@pytest.mark.parametrize(
    ("per_s", "stay_s", "lag_ms", "after_s", "collapsed"),
    [
        # Five times as long as a request stayed: 10 s of 2 s.
        (100.0, 2.0, 0, 9.9, False),
        (100.0, 2.0, 0, 10.0, True),
        # What windows are late is no silence.
        (100.0, 0.32, 3_000, 7.9, False),
        (100.0, 0.32, 3_000, 8.0, True),
        # Of 1.9 a second 9.5 would have been seen, of 2 a second 10.
        (1.9, 0.32, 0, 5.0, False),
        (2.0, 0.32, 0, 5.0, True),
    ],
)
def test_silence_is_as_long_as_something_should_have_ended(
    per_s: float, stay_s: float, lag_ms: int, after_s: float, collapsed: bool
) -> None:
    trust = replace(TRUST, measured=(replace(AT_32, per_s=per_s, stay_s=stay_s, lag_ms=lag_ms),))
    assert (judged(trust, scene(16), after_s)[1] is not None) == collapsed


@pytest.mark.parametrize(
    ("good", "in_flight", "full", "seconds", "collapsed"),
    [
        (49.0, 6.0, 1.0, 3, True),
        # Half is no less than half.
        (50.0, 6.0, 1.0, 3, False),
        (49.0, 6.0, 1.0, 2, False),
        # Not full, and 0.12 s each: nobody came. 0.49 s each are 1.5 times 0.32 s and more.
        (49.0, 6.0, 0.0, 3, False),
        (49.0, 24.0, 0.0, 3, True),
        (49.0, 23.0, 0.0, 3, False),
    ],
)
def test_a_fall_to_less_than_half_is_a_collapse_where_the_pool_is_full_or_slower(
    good: float, in_flight: float, full: float, seconds: int, collapsed: bool
) -> None:
    found = judged(TRUST, scene(16, *beats(16, seconds, good, in_flight), full=full), 4)[1]
    assert found == (GuardVerdict(Case.COLLAPSED, 32, "49/s at 16, 100/s at 32") if collapsed else None)


@pytest.mark.parametrize(
    ("good", "full", "seconds", "shrunk", "back"),
    [
        (94.0, 1.0, 3, True, True),
        # 0.95 of 100 is no less than that.
        (95.0, 1.0, 3, True, False),
        (94.0, 1.0, 2, True, False),
        # Fewer came.
        (94.0, 0.4, 3, True, False),
        # It was full before: the belief compares.
        (94.0, 1.0, 3, False, False),
    ],
)
def test_a_pool_that_was_never_full_completes_more_where_it_is_shrunk_or_goes_back(
    good: float, full: float, seconds: int, shrunk: bool, back: bool
) -> None:
    """48 of 64 complete 100 a second in the newest 5 s; the record of the half minute has 200 of a light load."""
    before = beats(64, 10, 200.0, 10.0, since=S0 - 15) + beats(64, 5, 100.0, 48.0, since=S0 - 5)
    trust = Trust(64, T0, (SizeRecord(64, 150.0, 0.15, 0.0, 4.0),))
    shown = scene(32, *before, *beats(32, seconds, good, 32.0), from_size=64, full=full)
    after, verdict = judged(trust, replace(shown, shrunk=shrunk), 4)
    assert verdict == (GuardVerdict(Case.NO_GAIN, 64, "94/s at 32, 100/s at 64") if back else None)
    now_ms = T0 + 4_000
    for_a_minute, refused = RefusedSize(63, 64, now_ms + DRAINS_MS), RefusedSize(32, 64, now_ms + REFUSED_MS)
    assert after.refused == ((for_a_minute, refused) if back else ())


@pytest.mark.parametrize(("seconds", "collapsed"), [(11, False), (12, True)])
def test_a_fall_is_judged_once_requests_could_have_ended(seconds: int, collapsed: bool) -> None:
    """1 a second of 12 s each at 32: what began at 16 ends after 12 s, and none of 12 expected ones did."""
    slow = replace(TRUST, measured=(replace(AT_32, per_s=1.0, stay_s=12.0),))
    found = judged(slow, scene(16, *beats(16, seconds, 0.01, 16.0), full=1.0), seconds)[1]
    assert (found is not None) == collapsed


def test_a_pool_that_fills_after_a_light_load_has_not_collapsed() -> None:
    """40 a second came for 20 s; then the pool of 16 is full, and completes 95."""
    light, full = beats(16, 20, 40.0, 6.0), beats(16, 3, 95.0, 16.0, since=S0 + 20)
    assert judged(TRUST, scene(16, *light, *full, full=1.0), 23)[1] is None
    few = beats(16, 3, 45.0, 16.0, since=S0 + 20)
    assert judged(TRUST, scene(16, *light, *few, full=1.0), 23)[1].case is Case.COLLAPSED


def timely(size: int, good: float, in_time: float, callers: float, seconds: int = 4, since: int = S0) -> list[Beat]:
    """Of a full pool, all of whose completions callers judge."""
    return [Beat(since + at, size, good, 0.0, float(size), 1.0, good, in_time, callers) for at in range(seconds)]


# 90 threads of the operator complete 850 a second, 650 of them in time, for 103 callers; then 45 were set.
TRUST_90 = Trust(90, T0, (SizeRecord(90, 850.0, 0.106, 0.0, 4.0),))
AT_90 = timely(90, 850.0, 650.0, 103.0, since=S0 - 4)


@pytest.mark.parametrize(
    ("before", "after", "back"),
    [
        (AT_90, timely(45, 1_010.0, 250.0, 104.0), 90),
        # 0.7 of 650 is 455.
        (AT_90, timely(45, 1_010.0, 456.0, 104.0), None),
        # A request stays 0.045 s: the second after the first one is the first that counts.
        (AT_90, timely(45, 1_010.0, 250.0, 104.0, seconds=2), None),
        # 134 call now: more than 1.3 times as many.
        (AT_90, timely(45, 1_010.0, 250.0, 134.0), None),
        # 150 called before, of whom 90 had a place: that the others waited is no merit of a smaller size's.
        (timely(90, 850.0, 650.0, 150.0, since=S0 - 4), timely(45, 1_010.0, 250.0, 150.0), None),
        # 90 completes less than half: the SLO may be wrong.
        (AT_90, timely(45, 1_701.0, 250.0, 104.0), None),
        # 3 a second in time are too few to tell.
        (timely(90, 850.0, 3.0, 103.0, since=S0 - 4), timely(45, 1_010.0, 0.0, 104.0), None),
        # Nobody judges.
        (AT_90, beats(45, 4, 1_010.0, 45.0), None),
        # In steps: 2 s at 60 and 2 s at 45, of which the first second does not count.
        (AT_90, [*timely(60, 970.0, 300.0, 104.0, 2), *timely(45, 1_010.0, 250.0, 104.0, 2, S0 + 2)], 90),
        # Down to 30, and up to 45.
        (AT_90, [*timely(30, 1_120.0, 220.0, 104.0, 2), *timely(45, 1_010.0, 250.0, 104.0, 2, S0 + 2)], 90),
        # The most in time of two larger sizes.
        ([*timely(120, 800.0, 700.0, 103.0, since=S0 - 8), *AT_90], timely(45, 1_010.0, 250.0, 104.0), 120),
    ],
)
def test_fewer_in_time_at_a_smaller_size_is_taken_back(before: list[Beat], after: list[Beat], back: int | None) -> None:
    trust, verdict = judged(TRUST_90, scene(45, *before, *after, from_size=90, full=1.0), 5)
    assert (verdict.size if verdict else None) == back
    assert trust == TRUST_90  # nothing is refused
    if back == 90 and len({beat.size for beat in after}) == 1:
        assert verdict == GuardVerdict(Case.FEWER_IN_TIME, 90, "250/s in time since 90, 650/s at it")


def test_fewer_in_time_at_a_larger_size_are_no_ground() -> None:
    """The choice between larger sizes is the belief's; the guard judges them by completions."""
    trust = Trust(45, T0, (SizeRecord(45, 1_010.0, 0.045, 0.0, 4.0),))
    before = timely(45, 1_010.0, 900.0, 50.0, since=S0 - 4)
    shown = scene(90, *before, *timely(90, 850.0, 100.0, 60.0), from_size=45, full=1.0)
    assert judged(trust, shown, 5)[1] is None


def test_a_refused_size_is_not_gone_back_to() -> None:
    trust = replace(TRUST_90, operator=60, refused=(RefusedSize(80, 60, T0 + 600_000),))
    shown = scene(45, *AT_90, *timely(45, 1_010.0, 250.0, 104.0), from_size=60, full=1.0)
    assert judged(trust, shown, 5)[1] is None


def test_after_two_minutes_a_change_is_not_on_trial_any_more() -> None:
    """Whether the operator's size does more still is judged."""
    some = beats(16, 30, 80.0, 16.0, 20.0, since=S0 + 100)
    assert judged(TRUST, scene(16, *some), 120)[1].case is Case.ERRORS_RISE
    trust = replace(TRUST, measured=(AT_32,))
    late = judged(trust, scene(16, *some), 120.001)[1]
    # A fifth fails, and 80 a second is more than 0.7 of 100.
    assert late is None


def test_a_second_that_began_before_the_size_was_in_force_is_not_its_own() -> None:
    """In force from T0 + 1 ms: the second that begins at T0 is not judged."""
    shown = scene(16, *beats(16, 3, 10.0, 16.0), full=1.0)
    assert judged(replace(TRUST, since_ms=T0 + 1), shown, 4)[1] is None
    assert judged(TRUST, shown, 4)[1].case is Case.COLLAPSED


def test_errors_that_rise_are_taken_back_for_an_hour() -> None:
    trust, verdict = judged(TRUST, scene(64, *beats(64, 3, 95.0, 30.0, 5.0)), 4)
    assert verdict == GuardVerdict(Case.ERRORS_RISE, 32, "5% at 64, 0% at 32")
    assert trust.refused == (RefusedSize(64, 32, T0 + 4_000 + ERRORS_REFUSED_MS),)
    assert (trust.refuses(63, T0 + 5_000), trust.refuses(64, T0 + 5_000), trust.refuses(200, T0 + 5_000)) == (
        False,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("before", "good", "failed", "rises"),
    [
        # 5 > 2 sqrt(0 + 1); 4 are too few.
        (0.0, 95.0, 5.0, True),
        (0.0, 96.0, 4.0, False),
        # 15 of 100, 12 expected: 3 < 2 sqrt(12 x 0.88 + 1) = 6.8. 20 of 100: 8 is more.
        (0.12, 85.0, 15.0, False),
        (0.12, 80.0, 20.0, True),
        # 2 % more of all is asked for, however sure: 5.9 % of 10,000 against 4 %.
        (0.04, 9_410.0, 590.0, False),
        (0.04, 9_390.0, 610.0, True),
    ],
)
def test_errors_rise_by_two_standard_errors_and_2_percent(
    before: float, good: float, failed: float, rises: bool
) -> None:
    pace = Pace(10.0, good / 10, 0.1, failed / (good + failed), 1.0, failed)
    assert errors_rise(replace(AT_32, failed=before), pace) == rises


def test_a_size_that_is_refused_itself_is_not_gone_back_to() -> None:
    """From 32 to 16 did harm, then from 16 to 8 does: to the operator's 32."""
    trust = replace(TRUST, measured=(AT_32, replace(AT_32, size=16)), refused=(RefusedSize(16, 32, T0 + REFUSED_MS),))
    after, verdict = judged(trust, scene(8, from_size=16), 5)
    assert (verdict.case, verdict.size) == (Case.COLLAPSED, 32)
    assert {(each.size, each.from_size) for each in after.refused} == {(16, 32), (8, 16)}


def test_from_a_size_that_nobody_saw_it_is_judged_by_the_operator_s() -> None:
    """An actuator took a step of its own to 24 on the way from 32 to 16."""
    trust, verdict = judged(TRUST, scene(16, from_size=24), 5)
    assert (verdict.case, verdict.size) == (Case.COLLAPSED, 32)
    assert trust.refused == (RefusedSize(16, 32, T0 + 5_000 + REFUSED_MS),)


def test_refusals_double_within_a_day_and_last_a_day_at_most() -> None:
    trust, now_ms, lasts = TRUST, T0, []
    for _ in range(10):
        trust = refusing(trust, 16, 32, REFUSED_MS, now_ms)
        (one,) = trust.refused
        lasts.append(one.until_ms - now_ms)
        now_ms = one.until_ms
    minutes = [each / 60_000 for each in lasts]
    assert minutes == [10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440]
    assert not trust.refuses(16, now_ms)
    # A day after it was over, and no more, it counts as the first one again.
    assert refusing(trust, 16, 32, REFUSED_MS, now_ms + DAY_MS).refused[0].times == 11
    assert refusing(trust, 16, 32, REFUSED_MS, now_ms + DAY_MS + 1).refused[0].times == 1
    # From another side it is another one.
    assert [each.times for each in refusing(trust, 16, 8, REFUSED_MS, now_ms).refused] == [10, 1]


# 60 a second of 0.1 s, 6 in flight: neither full nor slower. 60 a second at 16 in flight: 0.27 s, no slower, but full.
LESS = scene(16, *beats(16, 30, 60.0, 6.0))


def test_less_than_at_the_operator_s_size_is_looked_at_there() -> None:
    assert judged(TRUST, scene(16, *beats(16, 29, 60.0, 6.0)), 29.9)[1] is None
    trust, verdict = judged(TRUST, LESS, 30)
    assert verdict == GuardVerdict(Case.CHECKED, 32, "60/s at 16, 100/s at 32")
    assert trust.check == OperatorLook(T0 + 30_000, 60.0)
    assert judged(TRUST, scene(16, *beats(16, 30, 70.0, 6.0)), 30)[1] is None


@pytest.mark.parametrize(("seconds", "per_s", "gave_up"), [(15, 95.0, True), (15, 61.0, False), (3, 95.0, True)])
def test_the_look_tells_whether_it_is_the_demand(seconds: int, per_s: float, gave_up: bool) -> None:
    """95 a second at 32 are more than 60 / 0.7 = 86; 61 are not. 50 completions are enough: 3 s of 95."""
    looked, _ = judged(TRUST, LESS, 30)
    # Read back a second later.
    looked = replace(looked, since_ms=T0 + 31_000)
    there = scene(32, *beats(32, seconds, per_s, 20.0, since=S0 + 31), from_size=None)
    after, verdict = judged(looked, there, 31 + seconds)
    assert after.check is None
    if gave_up:
        assert verdict == GuardVerdict(Case.GAVE_UP, 32, f"60/s at the size before, {per_s:.3g}/s at 32")
        assert (after.given_up_ms, after.times) == (T0 + 31_000 + 1_000 * seconds + GIVEN_UP_MS, 1)
    else:
        assert verdict is None
        assert (after.demand_per_s, after.demand_until_ms) == (61.0, T0 + 46_000 + REFUSED_MS)


@pytest.mark.parametrize(("when_full", "gave_up"), [(67.0, False), (66.0, True)])
def test_a_size_that_completed_as_much_when_it_was_full_is_not_given_up(when_full: float, gave_up: bool) -> None:
    """60 a second, and then 95 at the operator's size: the load grew meanwhile. 0.7 of 95 are 66.5."""
    looked = replace(judged(TRUST, LESS, 30)[0], since_ms=T0 + 31_000)
    there = replace(scene(32, *beats(32, 3, 95.0, 20.0, since=S0 + 31), from_size=None), when_full_per_s=when_full)
    after, verdict = judged(looked, there, 34)
    assert (after.check, verdict is not None) == (None, gave_up)
    if not gave_up:
        assert after.demand_per_s == 95.0


def test_a_look_lasts_until_it_tells() -> None:
    """3 a second: 50 completions are not to be had, so 15 s of it."""
    looked = replace(TRUST, since_ms=T0 + 31_000, check=OperatorLook(T0 + 30_000, 1.0))
    short = scene(32, *beats(32, 14, 3.0, 1.0, since=S0 + 31), from_size=None)
    assert judged(looked, short, 45)[1].case is Case.CHECKED
    after, verdict = judged(looked, scene(32, *beats(32, 15, 3.0, 1.0, since=S0 + 31), from_size=None), 46)
    # 3 a second there and 1 before are 2 more, 4.1 standard errors of 0.48.
    assert (verdict.case, after.check) == (Case.GAVE_UP, None)
    # And where windows stay out, 45 s.
    none = scene(32, from_size=None)
    assert judged(looked, none, 76)[1].case is Case.CHECKED
    assert judged(looked, none, 76.001)[1] is None


@pytest.mark.parametrize(("before", "there", "gave_up"), [(1.58, 2.42, False), (1.0, 2.0, False), (1.0, 2.4, True)])
def test_a_look_that_may_be_chance_gives_no_size_up(before: float, there: float, gave_up: bool) -> None:
    """Where the load of a real application fell from 6.2 a second, 15 s showed 2.42 after half a minute of 1.58: 1.8
    standard errors, and callers waited at one connection for 10 min. 2.0 after 1.0 are 2.4, 2.4 after 1.0 are 3.2."""
    looked = replace(TRUST, since_ms=T0 + 31_000, check=OperatorLook(T0 + 30_000, before))
    after, verdict = judged(looked, scene(32, *beats(32, 15, there, 1.0, since=S0 + 31), from_size=None), 46)
    assert (after.check, verdict is not None) == (None, gave_up)
    if not gave_up:
        # What completes less than 0.7 of that is looked at again.
        assert after.demand_per_s == pytest.approx(there)


def test_a_target_that_does_not_follow_is_not_waited_for() -> None:
    looked = replace(TRUST, check=OperatorLook(T0 + 30_000, 60.0))
    assert judged(looked, scene(16), 150)[1] == GuardVerdict(Case.CHECKED, 32, "60/s at the size before")
    after, verdict = judged(looked, scene(16), 150.001)
    assert (after.check, verdict) == (None, None)


def test_what_was_shown_to_be_the_demand_is_no_ground_for_another_look() -> None:
    """61 a second were; down to 42.7 it is the demand, for ten minutes."""
    known = replace(TRUST, demand_per_s=61.0, demand_until_ms=T0 + 60_000)
    assert judged(known, scene(16, *beats(16, 30, 43.0, 5.0)), 30)[1] is None
    assert judged(known, scene(16, *beats(16, 30, 42.0, 5.0)), 30)[1].case is Case.CHECKED
    later = replace(known, demand_until_ms=T0 + 30_000)
    assert judged(later, scene(16, *beats(16, 30, 43.0, 5.0)), 30)[1].case is Case.CHECKED


@pytest.mark.parametrize(
    ("in_flight", "failed", "full"),
    [
        (16.0, 0.0, 1.0),
        # 25.2 / 60 = 0.42 s is over 1.3 x 0.32 s.
        (25.2, 0.0, 0.0),
        # 3 of 63 fail, none did.
        (6.0, 3.0, 0.0),
    ],
)
def test_of_a_pool_that_is_full_or_slower_or_fails_more_it_is_given_up_at_once(
    in_flight: float, failed: float, full: float
) -> None:
    some = beats(16, 30, 60.0, in_flight, failed)
    after, verdict = judged(
        replace(TRUST, demand_per_s=61.0, demand_until_ms=T0 + 90_000), scene(16, *some, from_size=None, full=full), 30
    )
    assert verdict == GuardVerdict(Case.GAVE_UP, 32, "60/s at 16, 100/s at 32")
    assert after.given_up_ms == T0 + 30_000 + GIVEN_UP_MS


def test_silence_for_half_a_minute_is_looked_at() -> None:
    """Though the beats of before it are still there, and as late as windows were when the operator's was left."""
    found = scene(16, *beats(16, 30, 100.0, 16.0), from_size=None, full=1.0)
    assert judged(TRUST, found, 59.9)[1] is None
    assert judged(TRUST, found, 60)[1] == GuardVerdict(Case.CHECKED, 32, "0/s at 16, 100/s at 32")
    late = replace(TRUST, measured=(replace(AT_32, lag_ms=2_000),))
    assert judged(late, found, 61.9)[1] is None
    assert judged(late, found, 62)[1].case is Case.CHECKED


def test_a_service_that_is_away_does_no_harm() -> None:
    """No target tells its size any more: neither 5 s nor 30 s of silence are ours. What completes still counts."""
    away = replace(scene(16), unread=True)
    assert judged(TRUST, away, 5)[1] is None
    assert judged(TRUST, away, 60)[1] is None
    some = replace(scene(16, *beats(16, 3, 49.0, 16.0), full=1.0), unread=True)
    assert judged(TRUST, some, 4)[1].case is Case.COLLAPSED


def test_silence_of_an_idle_pool_does_no_harm() -> None:
    """Nothing is in use and nobody waits: the load has gone. What completes, too little of it, still counts."""
    idle = replace(scene(16), idle=True)
    assert judged(TRUST, idle, 5)[1] is None
    assert judged(TRUST, idle, 60) == (TRUST, None)
    some = replace(scene(16, *beats(16, 3, 49.0, 16.0), full=1.0), idle=True)
    assert judged(TRUST, some, 4)[1].case is Case.COLLAPSED


@pytest.mark.parametrize(("per_s", "idle", "looks"), [(9.9, True, False), (9.9, False, True), (10.1, True, True)])
def test_the_last_completions_before_an_idle_pool_fell_silent_are_no_ground_for_a_look(
    per_s: float, idle: bool, looks: bool
) -> None:
    """The load of a real application ended: one completion in the half minute, 5 a second before, 6 connections of
    which none was in use. They became the operator's one, and would have been refused once the load came back."""
    some = replace(scene(64, *beats(64, 30, per_s, 1.0), from_size=None), idle=idle)
    assert (judged(TRUST, some, 30)[1] is not None) == looks


@pytest.mark.parametrize(
    ("in_use", "size", "looks"),
    [(3.0, 16, False), (2.9, 16, True), (None, 16, True), (3.0, 64, True)],
)
def test_silence_of_spans_alone_is_no_silence_of_requests(in_use: float | None, size: int, looks: bool) -> None:
    """6 in flight, then no spans: with 3 in use by the targets of a smaller pool that is not full, requests go on."""
    found = scene(size, *beats(size, 30, 60.0, 6.0), from_size=None)
    verdict = judged(TRUST, replace(found, in_use=in_use), 60)[1]
    assert verdict == (GuardVerdict(Case.CHECKED, 32, f"0/s at {size}, 100/s at 32") if looks else None)


@pytest.mark.parametrize(("in_use", "looks"), [(16.0, False), (15.9, True)])
def test_without_beats_of_before_the_operator_s_record_is_the_measure(in_use: float, looks: bool) -> None:
    found = scene(24, *beats(24, 30, 0.0, 0.0), from_size=None, completed_ms=T0)
    assert (judged(TRUST, replace(found, in_use=in_use), 60)[1] is not None) == looks


def test_spans_that_show_fewer_completions_are_believed_whatever_is_in_use() -> None:
    some = scene(16, *beats(16, 30, 60.0, 6.0), from_size=None)
    assert judged(TRUST, replace(some, in_use=6.0), 30)[1].case is Case.CHECKED


def test_a_smaller_operator_s_size_is_not_looked_at() -> None:
    """A larger pool that is neither full nor slower does all that comes. One that is full or slower gets a look at the
    operator's size: requests may have become heavier, or its callees slower while the load fell."""
    assert judged(TRUST, scene(64, *beats(64, 30, 60.0, 6.0), from_size=None), 30)[1] is None
    slow = scene(64, *beats(64, 30, 60.0, 60.0), from_size=None)
    assert judged(TRUST, slow, 30)[1] == GuardVerdict(Case.CHECKED, 32, "60/s at 64, 100/s at 32")
    full = scene(64, *beats(64, 30, 60.0, 64.0), from_size=None, full=1.0)
    assert judged(TRUST, full, 30)[1].case is Case.CHECKED
    # Under 0.3 of 100 a second it is looked at as well (bench/adversary, seed 595).
    few = scene(64, *beats(64, 30, 29.0, 2.9), from_size=None)
    assert judged(TRUST, few, 30)[1].case is Case.CHECKED


@pytest.mark.parametrize(("per_s", "looks"), [(69.0, True), (71.0, False)])
def test_where_most_callers_wait_a_larger_size_does_not_do_all_that_comes(per_s: float, looks: bool) -> None:
    """Spans show 6 of 64 in use, and callers wait (bench/adversary, seed 4984)."""
    shown = replace(scene(64, *beats(64, 30, per_s, 6.0), from_size=None), most_wait=True)
    assert (judged(TRUST, shown, 30)[1] is not None) == looks


def test_a_pool_that_drains_is_judged_after_a_minute_unless_nothing_completes() -> None:
    """From 32 that completed 100 a second to 4, while 20 requests of before have not ended."""
    few = replace(scene(4, *beats(4, 20, 2.0, 20.0)), drains=True)
    assert judged(TRUST, few, 20)[1] is None
    assert judged(TRUST, replace(few, drains=False), 20)[1].case is Case.COLLAPSED
    longer = replace(scene(4, *beats(4, 30, 2.0, 20.0, since=S0 + 31)), drains=True)
    assert judged(TRUST, longer, 60)[1] is None
    assert judged(TRUST, longer, 61)[1].case is Case.GAVE_UP
    assert judged(TRUST, replace(scene(4), drains=True), 5)[1].case is Case.COLLAPSED


@pytest.mark.parametrize(("operator_full", "collapsed"), [(15.0, False), (25.0, True), (float("inf"), True)])
def test_a_size_that_completes_less_when_full_is_not_gone_back_to(operator_full: float, collapsed: bool) -> None:
    """32 did 100 a second of a light load. The load grew, and 20 collapses to 20: where 32 did 15, 20 is better."""
    full = scene(20, *beats(20, 4, 20.0, 20.0), full=1.0)
    verdict = judged(TRUST, replace(full, operator_full_per_s=operator_full), 5)[1]
    assert (verdict is not None) == collapsed


def test_after_silence_the_size_is_refused_and_the_operator_s_is_not_held() -> None:
    """Nothing in half a minute at 16, then 95 a second at 32: it may be that nobody came before."""
    at_16 = replace(AT_32, size=16, per_s=40.0)
    looked = replace(TRUST, measured=(AT_32, at_16), since_ms=T0 + 61_000, check=OperatorLook(T0 + 60_000, 0.0))
    after, verdict = judged(looked, scene(32, *beats(32, 3, 95.0, 20.0, since=S0 + 61), from_size=None), 64)
    assert (verdict, after.check, after.given_up_ms) == (None, None, 0)
    assert after.refused == (RefusedSize(16, 32, T0 + 64_000 + REFUSED_MS),)
    # Where none of ours was measured there is none to refuse.
    unseen, verdict = judged(
        replace(looked, measured=(AT_32,)), scene(32, *beats(32, 3, 95.0, 20.0, since=S0 + 61), from_size=None), 64
    )
    assert (verdict, unseen.check, unseen.refused) == (None, None, ())


def test_it_is_given_up_for_twice_as_long_each_time_up_to_a_day() -> None:
    trust, now_ms, lasts = TRUST, T0, []
    for _ in range(9):
        trust, verdict = given_up(trust, 32, "", now_ms)
        assert verdict.size == 32
        lasts.append((trust.given_up_ms - now_ms) / 60_000)
        now_ms = trust.given_up_ms
    assert lasts == [10, 20, 40, 80, 160, 320, 640, 1_280, 1_440]
    assert given_up(trust, 32, "", now_ms + LONGEST_MS)[0].times == 10
    assert given_up(trust, 32, "", now_ms + LONGEST_MS + 1)[0].times == 1


def test_while_it_is_given_up_nothing_else_is_asked() -> None:
    held = replace(TRUST, given_up_ms=T0 + 10_000)
    assert judged(held, scene(16), 9)[1] == GuardVerdict(Case.GAVE_UP, 32, "for 1 s more")
    assert judged(held, scene(32, from_size=None), 9)[1].size == 32
    assert judged(held, scene(32, from_size=None), 10)[1] is None


def test_other_cores_are_not_compared() -> None:
    assert judged(TRUST, scene(16, cores=2.0), 60)[1] is None
    assert judged(TRUST, replace(LESS, cores=2.0), 60)[1] is None


def test_without_an_operator_s_size_or_at_it_there_is_nothing_to_judge() -> None:
    assert judged(Trust(measured=(AT_32,)), scene(16), 60) == (Trust(measured=(AT_32,)), None)
    assert judged(TRUST, scene(32), 60) == (TRUST, None)


def test_a_size_that_somebody_else_set_is_the_operator_s_and_all_begins_anew() -> None:
    had = replace(
        TRUST, refused=(RefusedSize(16, 32, T0 + 1),), check=OperatorLook(T0, 1.0), given_up_ms=T0 + 1, times=3
    )
    found = in_force(had, 40, 16, True, T0 + 5_000)
    assert found == Trust(40, T0 + 5_000, (AT_32,))
    # Ours is in force from when it was read first.
    assert in_force(had, 16, 32, False, T0 + 5_000) == replace(had, since_ms=T0 + 5_000)
    assert in_force(had, 16, 16, False, T0 + 5_000) is had
    assert in_force(had, None, 16, True, T0 + 5_000) is had
    assert in_force(Trust(), 20, None, False, T0).operator == 20


def test_what_a_size_did_is_kept_when_it_is_left() -> None:
    some = tuple(beats(16, 10, 45.0, 12.0, 5.0))
    found = left(TRUST, 16, some, 4.0, 2_000)
    assert found.measured == (AT_32, SizeRecord(16, 45.0, 0.24, 0.1, 4.0, 2_000))
    # Once more: the newest counts.
    again = left(found, 16, tuple(beats(16, 10, 50.0, 12.0)), 4.0, 0)
    assert [(each.size, each.per_s) for each in again.measured] == [(32, 100.0), (16, 50.0)]
    assert left(TRUST, 16, (), 4.0, 0) == TRUST
    assert left(TRUST, 16, tuple(beats(16, 3, 0.0, 16.0)), 4.0, 0) == TRUST


def test_a_size_of_ours_that_was_hardly_seen_is_no_measure_of_the_next() -> None:
    assert left(TRUST, 16, tuple(beats(16, 2, 50.0, 12.0)), 4.0, 0) == TRUST
    assert left(TRUST, 16, tuple(beats(16, 3, 50.0, 12.0)), 4.0, 0) != TRUST
    hardly = left(TRUST, 32, tuple(beats(32, 1, 50.0, 12.0)), 4.0, 0)
    assert TRUST.operator == 32
    assert hardly.at(32, 4.0) != TRUST.at(32, 4.0)


@pytest.mark.parametrize(("seconds", "good", "kept"), [(2, 0.3, True), (2, 0.4, False), (3, 0.3, False)])
def test_a_look_at_which_all_failed_is_no_measure_of_the_operator_s_size(seconds: int, good: float, kept: bool) -> None:
    """0.33 a second are 10 in half a minute, from which on their absence means something (adversary, seed 9392)."""
    after = left(TRUST, 32, tuple(beats(32, seconds, good, 12.0, failed=5.0)), 4.0, 0)
    assert (after == TRUST) == kept
    first = left(replace(TRUST, measured=()), 32, tuple(beats(32, seconds, good, 12.0, failed=5.0)), 4.0, 0)
    assert first.at(32, 4.0) is not None


def test_the_first_stay_at_a_size_is_not_its_measure() -> None:
    """A service collapses at the operator's 89: 151, 35 and 44 a second, the last 88 in flight for 2 s each."""
    began = beats(89, 1, 151.0, 49.0)
    came = (*began, *beats(89, 1, 35.0, 88.0, since=S0 + 1), *beats(89, 1, 44.0, 88.0, since=S0 + 2))
    record = left(Trust(89, T0), 89, came, 4.0, 0).at(89, 4.0)
    assert (record.per_s, record.stay_s) == (44.0, 2.0)


def test_the_operator_s_is_not_forgotten_for_those_of_ours() -> None:
    trust = TRUST
    for size in range(1, 20):
        trust = left(trust, size, tuple(beats(size, 3, 10.0, 1.0)), 4.0, 0)
    assert len(trust.measured) == MOST_MEASURED
    assert trust.at(32, 4.0) == AT_32
    assert [each.size for each in trust.measured if each.size != 32] == list(range(20 - MOST_MEASURED + 1, 20))


SECONDS = st.tuples(
    st.sampled_from([0.0, 1.0, 20.0, 60.0, 75.0, 100.0]),
    st.sampled_from([0.0, 0.0, 5.0, 40.0]),
    st.sampled_from([0.0, 6.0, 16.0, 60.0]),
    st.booleans(),
    # What we choose next where the guard asks for nothing; None: to stay.
    st.sampled_from([None, None, None, None, None, None, 4, 8, 16, 24, 48]),
    # An operator sets another.
    st.sampled_from([None] * 40 + [20, 40]),
)


@given(st.lists(SECONDS, min_size=1, max_size=400), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_whatever_completes_back_is_to_the_operator_s_or_a_size_that_was_measured(
    seconds: list[tuple[float, float, float, bool, int | None, int | None]], follows_s: int
) -> None:
    """And once it is given up the operator's is asked for until that is over. A target follows after some seconds."""
    trust, size, current_before, wanted, since = Trust(), 32, None, None, 0
    changed: tuple[int, int] | None = None
    found: tuple[Beat, ...] = ()
    for at, (good, failed, in_flight, full, chosen, set_to) in enumerate(seconds):
        now_ms, foreign = T0 + 1_000 * (at + 1), False
        if set_to is not None and set_to != size:
            size, wanted, foreign = set_to, None, True
        elif wanted is not None and at - since >= follows_s:
            size, wanted = wanted, None
        found = (*found, Beat(S0 + at, size, good, failed, in_flight, 1.0))[-30:]
        trust = in_force(trust, size, current_before, foreign, now_ms)
        current_before = size
        ours = changed is not None and changed[1] == size and not foreign
        done = [1_000 * (beat.second + 1) for beat in found if beat.good > 0]
        shown = Scene(
            size,
            changed[0] if ours else None,
            found,
            max(done, default=None),
            float(full),
            4.0,
            0,
        )
        held = now_ms < trust.given_up_ms
        trust, verdict = watched(trust, shown, now_ms)
        if verdict is not None:
            assert verdict.size == trust.operator or verdict.size in {each.size for each in trust.measured}
            if verdict.case in (Case.CHECKED, Case.GAVE_UP):
                assert verdict.size == trust.operator
        assert not held or (verdict is not None and verdict.case is Case.GAVE_UP)
        assert trust.check is None or now_ms >= trust.given_up_ms
        to = verdict.size if verdict is not None else chosen
        if to is not None and to != size and to != wanted and not trust.refuses(to, now_ms):
            trust = left(trust, size, found, 4.0, 0)
            wanted, since, changed = to, at, (size, to)


def test_sizes_that_take_turns_are_judged_together() -> None:
    """16 and 20 change places every 6 s, each with less than half of the operator's 100 a second, and slower."""
    turns = [beat for at in range(5) for beat in beats(16 + 4 * (at % 2), 6, 45.0, 20.0, since=S0 + 6 * at)]
    shown = scene(16, *turns, from_size=20)
    recent = replace(TRUST, since_ms=T0 + 24_000)
    assert judged(recent, scene(16, *turns[:-1], from_size=20), 29)[1] is None
    trust, verdict = judged(recent, shown, 30)
    # A host's clock that is a second ahead changes nothing.
    assert judged(recent, shown, 29)[1] == verdict
    assert verdict == GuardVerdict(Case.GAVE_UP, 32, "45/s at 16 to 20, 100/s at 32")
    assert trust.given_up_ms > T0
    # The newest three seconds are as good as the operator's: the size of now is no worse.
    better = scene(16, *turns[:-3], *beats(16, 3, 90.0, 18.0, since=S0 + 27), from_size=20)
    assert judged(recent, better, 30)[1] is None
