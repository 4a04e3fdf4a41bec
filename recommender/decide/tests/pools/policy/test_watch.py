"""What the guard is shown, and what targets tell in place of spans: by hand."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from sluice.pools.policy.decision import Basis
from sluice.pools.policy.observation import Constraints, Observation, Occupancy
from sluice.pools.policy.pace import Beat, with_beats
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice.pools.policy.step import step
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.trust import OperatorLook, SizeRecord, Trust
from sluice.pools.policy.watch import settled, spans_full, watch, with_occupancy
from sluice_kit.decide.feeds import buckets, evidence, joined, nothing

NOW = 1_700_000_000_000
AT_32 = SizeRecord(32, 100.0, 0.25, 0.0, 4.0)


def told(busy: float, full_share: float, most: int = 20, readings: int = 10) -> Occupancy:
    return Occupancy(busy, None, full_share, NOW, busy_most=most, readings=readings, busy_30_s=busy)


def sees(*sizes: int | None, paused: str = "") -> Observation:
    named = {f"target-{at}": size for at, size in enumerate(sizes)}
    return Observation(named, nothing(), 4.0, 1.0, constraints=Constraints(paused=paused))


@pytest.mark.parametrize(
    ("size", "by_spans", "busy", "full_share", "in_flight"),
    [
        # Held between queries: 0.4 are 4.
        (4, 0.4, 4.0, 0.9, 4.0),
        (4, 0.4, 4.0, 0.89, 0.4),
        # Nested spans: 40 of 34 are 5.
        (34, 40.0, 5.0, 0.0, 5.0),
        (34, 40.0, 5.0, 0.1, 40.0),
        # Full on average of the newest half minute, and not by now.
        (4, 0.4, 3.0, 0.9, 0.4),
        # Spans that do not call it full are let be: 30.5 is under 0.9 x 34.
        (34, 30.5, 5.0, 0.0, 30.5),
    ],
)
def test_targets_win_where_spans_show_another_fullness(
    size: int, by_spans: float, busy: float, full_share: float, in_flight: float
) -> None:
    given = buckets(NOW, 1, size, by_spans, 10.0)
    found = with_occupancy(given, told(busy, full_share))
    assert found.concurrency.tolist() == [in_flight] * 10
    assert found.completions.tolist() == given.completions.tolist()


def test_readings_are_moments_a_burst_between_them_may_fill_the_pool() -> None:
    """0.7 of 34 are 23.8."""
    given = buckets(NOW, 1, 34, 40.0, 10.0)
    for spoken in (told(5.0, 0.0, most=24), told(5.0, 0.0, readings=9)):
        assert with_occupancy(given, spoken).concurrency.tolist() == [40.0] * 10
    assert with_occupancy(given, told(5.0, 0.0, most=23)).concurrency.tolist() == [5.0] * 10


def test_where_spans_show_the_pool_full_an_old_report_of_a_full_one_replaces_nothing() -> None:
    """8 of 8 in second 0, reported as full; 3.9 of 8 in second 1, and no new report for up to 15 s."""
    full, idle = buckets(NOW, 1, 8, 8.0, 140.0), buckets(NOW + 1_000, 1, 8, 3.9, 73.0)
    assert spans_full(-1, full) == NOW
    assert spans_full(NOW, idle) == NOW
    assert spans_full(-1, idle) == spans_full(-1, nothing()) == -1
    assert with_occupancy(idle, told(8.0, 1.0, readings=1), NOW) is idle
    assert with_occupancy(idle, told(8.0, 1.0), NOW - 60_000).concurrency.tolist() == [8.0] * 10
    assert with_occupancy(idle, told(8.0, 1.0), -1).concurrency.tolist() == [8.0] * 10


@pytest.mark.parametrize(("buckets_full", "shown"), [(1, False), (2, True)])
def test_spans_show_the_pool_where_they_have_it_full_for_a_fifth_of_a_second(buckets_full: int, shown: bool) -> None:
    """Readings at the moments 65, 67 and 69 s had 4 of 4 in use; by spans 2.2 were, and 4 for 200 ms."""
    busy = buckets(NOW, 1, 4, 2.2, 166.0)
    busy.concurrency[:buckets_full] = 4.0
    assert (spans_full(-1, busy) == NOW) == shown


@pytest.mark.parametrize(("per_s", "age_s", "full"), [(11.0, 2.0, True), (73.0, 2.0, False), (11.0, 20.0, False)])
def test_spans_do_not_show_requests_that_have_not_ended(per_s: float, age_s: float, full: bool) -> None:
    """17 of 34 in flight, and 11 a second: 1.5 s each, read after 2 s. The pool collapsed, and a report says so."""
    known = replace(buckets(NOW + 1_000, 1, 34, 17.0, per_s), known_ms=NOW + 2_000 + 1_000 * age_s)
    expected = 34.0 if full else 17.0
    assert with_occupancy(known, told(34.0, 1.0), NOW).concurrency.tolist() == [expected] * 10
    silent = replace(known, completions=np.zeros(10))
    assert with_occupancy(silent, told(34.0, 1.0), NOW).concurrency.tolist() == [34.0] * 10


def test_a_report_says_nothing_of_the_time_before_its_first_reading() -> None:
    """A pool of 89 fills: 30 in flight in second 0, and no reading yet; all are in use in second 1."""
    fills = joined(buckets(NOW, 1, 89, 30.0, 150.0), buckets(NOW + 1_000, 1, 89, 60.0, 35.0))
    report = replace(told(89.0, 1.0, most=89), since_ms=NOW + 1_000)
    assert with_occupancy(fills, report).concurrency.tolist() == [30.0] * 10 + [89.0] * 10


def test_a_pool_that_drains_is_not_a_full_one() -> None:
    """18 in use of 5: the size has just fallen from 34, and 26 are in flight by spans."""
    drains = buckets(NOW, 1, 5, 26.0, 7.0)
    assert with_occupancy(drains, told(18.0, 1.0)) is drains
    assert with_occupancy(drains, told(5.0, 1.0)).concurrency.tolist() == [5.0] * 10


@pytest.mark.parametrize(
    ("settled_ms", "full_share", "in_flight"),
    [(NOW, 0.9, 4.0), (NOW + 1, 0.9, 13.0), (inf, 0.9, 13.0), (NOW, 0.89, 13.0)],
)
def test_spans_beyond_a_full_pool_are_of_requests_that_wait(
    settled_ms: float, full_share: float, in_flight: float
) -> None:
    """Node's spans begin before a request has its socket: 13 are in flight over 4 sockets. Of a pool that may still
    drain, or is not reported full, they say nothing (`belief.evidence.second`)."""
    waits = buckets(NOW, 1, 4, 13.0, 73.0)
    found = with_occupancy(waits, told(4.0, full_share, most=4), NOW, settled_ms=settled_ms)
    assert found.concurrency[:1].tolist() == [in_flight]
    busy = buckets(NOW, 1, 4, 3.0, 73.0)
    assert with_occupancy(busy, told(4.0, 1.0, most=4), NOW, settled_ms=settled_ms) is busy


@pytest.mark.parametrize(
    ("in_flight", "per_s", "read", "after_s"),
    [(13.0, 73.0, 4, 2.0), (40.0, 20.0, 4, 6.0), (13.0, 73.0, 3, inf), (4.0, 0.0, 4, inf)],
)
def test_a_pool_has_settled_after_three_stays(in_flight: float, per_s: float, read: int, after_s: float) -> None:
    assert settled(Trust(4, NOW), 4, read, buckets(NOW, 1, 4, in_flight, per_s)) == pytest.approx(NOW + 1_000 * after_s)
    assert settled(Trust(4, NOW), None, None, buckets(NOW, 1, 4, in_flight, per_s)) == inf


def test_of_a_pool_whose_spans_have_the_wait_a_look_is_learnt() -> None:
    """3 and 4 sockets complete 73 and 97 a second for 13 callers: without their size no second says anything, and the
    two take turns for ever."""
    state, size = PoolState(), 3
    for second in range(120):
        seen = buckets(NOW + 1_000 * second, 1, size, 13.0, 24.3 * min(size, 4))
        now_ms = NOW + 1_000 * (second + 1)
        report = replace(told(float(size), 1.0, most=size), at_ms=now_ms)
        state, found = step(state, Observation({"a": size}, seen, 4.0, 10.0, occupancy=report), now_ms)
        size = found.target or size
    assert len(state.learnt.evidence.levels) > 1
    assert size >= 4


def test_a_report_of_a_full_pool_makes_no_full_second_of_an_idle_one() -> None:
    """The demo's cart was kept at 7 of 12: after a change to 8 its only reading was full, and three seconds of a load
    that fell counted as what a full pool of 8 completes."""
    state = PoolState(Facts(NOW - 1_000, 8))
    for second, (in_flight, per_s) in enumerate([(8.0, 140.0), (8.0, 141.0), (6.2, 115.0), (3.9, 73.0), (3.2, 64.0)]):
        at_ms = NOW + 1_000 * second
        seen = replace(sees(8), buckets=buckets(at_ms, 1, 8, in_flight, per_s), occupancy=told(8.0, 1.0, readings=1))
        state, _ = step(state, seen, at_ms + 2_000)
    full = [level for level in state.learnt.evidence.levels if level.full]
    assert sum(level.completions for level in full) == pytest.approx(281, rel=0.02)
    assert sum(level.seconds for level in full) == pytest.approx(2, rel=0.02)


def test_without_a_told_one_or_a_size_spans_count() -> None:
    given = buckets(NOW, 1, 4, 0.4, 10.0)
    assert with_occupancy(given, None) is given
    untold = replace(given, size=np.full(10, np.nan))
    for share in (1.0, 0.0):
        assert with_occupancy(untold, told(4.0, share)).concurrency.tolist() == [0.4] * 10
    none = nothing()
    assert with_occupancy(none, told(4.0, 1.0)) is none


FACTS = Facts(NOW - 1_000, 16, Change(32, 16, NOW - 9_000, Basis.CURVE), trust=Trust(32, NOW - 8_000, (AT_32,)))
LEARNT = Learnt(evidence=evidence(16), until_ms=NOW - 1_100)


def test_the_guard_asks_for_the_size_before() -> None:
    """8 s without a completion, at a size of ours."""
    facts, verdict = watch(FACTS, LEARNT, sees(16), NOW)
    assert (verdict.case, verdict.size) == (Case.COLLAPSED, 32)
    assert facts.trust.refuses(16, NOW)


@pytest.mark.parametrize(("from_size", "verdict"), [(16, Case.COLLAPSED), (40, None)])
def test_evidence_is_the_measure_of_a_size_that_was_hardly_seen(from_size: int, verdict: Case | None) -> None:
    """16 completed 354 a second for 30 s, and was left before it was measured anew; 32 completes 100, full. 8 is the
    operator's, and did 60. A pool that was shrunk may have collapsed at the larger size, so its evidence is no
    measure."""
    change = Change(from_size, 32, NOW - 5_000, Basis.CURVE)
    at_8 = SizeRecord(8, 60.0, 0.13, 0.0, 4.0)
    facts = Facts(NOW - 1_000, 32, change, trust=Trust(8, NOW - 5_000, (at_8,)))
    beats = with_beats((), buckets(NOW - 5_000, 4, 32, 32.0, 100.0))
    learnt = Learnt(evidence=evidence(16, 40), full=(1.0,) * 3, until_ms=NOW - 1_100, beats=beats)
    found = watch(facts, learnt, sees(32), NOW)[1]
    assert (found and found.case) == verdict
    if found is not None:
        assert found.size == 16


def test_a_look_knows_what_the_size_completed_when_it_was_full() -> None:
    """A look at 32 after 60 a second of 16: 16 completed 354 when it was full, so 95 at 32 are the demand."""
    at_16 = SizeRecord(16, 60.0, 0.1, 0.0, 4.0)
    trust = Trust(32, NOW - 5_000, (AT_32, at_16), check=OperatorLook(NOW - 6_000, 60.0))
    beats = with_beats((), buckets(NOW - 5_000, 4, 32, 20.0, 95.0))
    facts = Facts(NOW - 1_000, 32, trust=trust)
    for known, case in ((evidence(16), None), (evidence(), Case.GAVE_UP)):
        found = watch(facts, Learnt(evidence=known, until_ms=NOW - 1_100, beats=beats), sees(32), NOW)[1]
        assert (found and found.case) == case


def test_while_it_is_paused_or_sizes_differ_or_have_no_limit_nothing_is_judged() -> None:
    for seen in (sees(16, paused="by ops"), sees(16, 32), sees(None), sees()):
        assert watch(FACTS, LEARNT, seen, NOW) == (FACTS, None)


def test_a_size_that_somebody_holds_is_the_operators() -> None:
    held = sees(16)
    held = replace(held, constraints=Constraints(paused="by ops: a sale", set_to=16))
    facts, verdict = watch(FACTS, LEARNT, held, NOW)
    assert verdict is None
    assert (facts.trust.operator, facts.trust.refused) == (16, ())
    assert watch(facts, LEARNT, held, NOW + 1_000)[0] is facts
    # Until it is read back it is not.
    assert watch(FACTS, LEARNT, replace(held, constraints=Constraints(paused="by ops", set_to=8)), NOW)[0] is FACTS


def test_a_change_that_is_not_in_force_is_not_on_trial() -> None:
    at_32 = replace(FACTS, current=32, trust=replace(FACTS.trust, since_ms=NOW - 60_000))
    facts, verdict = watch(at_32, LEARNT, sees(32), NOW)
    assert (facts, verdict) == (at_32, None)


def test_a_size_of_another_is_the_operator_s_from_now_on() -> None:
    facts, verdict = watch(FACTS, LEARNT, sees(40), NOW)
    assert verdict is None
    assert facts.trust == Trust(40, NOW, (AT_32,))
    # On the way from 32 to 16 it is an actuator's step.
    on_the_way, _ = watch(replace(FACTS, current=32), LEARNT, sees(24), NOW)
    assert (on_the_way.trust.operator, on_the_way.trust.since_ms) == (32, NOW)


def test_the_first_size_that_is_read_is_the_operator_s() -> None:
    facts, verdict = watch(Facts(), Learnt(), sees(200), NOW)
    assert (facts.trust, verdict) == (Trust(200, NOW), None)


def test_a_size_that_was_not_read_for_20_s_is_of_a_service_that_is_away() -> None:
    """Targets tell a size that stays each 15 s."""
    for ago_ms, case in ((20_000, Case.COLLAPSED), (20_001, None)):
        seen = replace(sees(16), read_ms=NOW - ago_ms)
        verdict = watch(FACTS, LEARNT, seen, NOW)[1]
        assert (verdict.case if verdict else None) is case


@pytest.mark.parametrize(
    ("reported", "looks"),
    [
        (told(3.0, 0.0, most=15), False),
        # Bursts fill it in 8 of 10 readings, not in 9.
        (told(13.0, 0.8, most=16), False),
        (told(14.5, 0.9, most=16), True),
        # Too few readings, or none that says when.
        (told(3.0, 0.0, most=15, readings=9), True),
        (replace(told(3.0, 0.0, most=15), coarse=True), True),
        (None, True),
    ],
)
def test_a_pool_that_is_reported_in_use_and_not_full_is_not_silent(reported: Occupancy | None, looks: bool) -> None:
    """6 in flight by the spans of a minute ago, and none since."""
    since_ms = NOW - 200_000
    facts = replace(FACTS, trust=replace(FACTS.trust, since_ms=since_ms))
    beats = tuple(Beat(NOW // 1_000 - 90 + at, 16, 60.0, 0.0, 6.0, 1.0) for at in range(30))
    verdict = watch(facts, replace(LEARNT, beats=beats), replace(sees(16), occupancy=reported), NOW)[1]
    assert (verdict.case if verdict else None) is (Case.CHECKED if looks else None)


def test_a_look_ends_where_the_service_is_away() -> None:
    looks = replace(FACTS, trust=replace(FACTS.trust, check=OperatorLook(NOW - 5_000, 60.0)))
    assert watch(looks, LEARNT, sees(), NOW)[0].trust.check is None
    assert watch(looks, LEARNT, sees(16, paused="by ops"), NOW)[0].trust.check is not None


def test_what_completed_keeps_it_from_being_called_silent() -> None:
    """45 a second, of a pool that is not full, of 0.1 s each: the demand, for all that 8 s tell."""
    beats = tuple(Beat(NOW // 1_000 - 8 + at, 16, 45.0, 0.0, 4.5, 1.0) for at in range(8))
    assert watch(FACTS, replace(LEARNT, beats=beats), sees(16), NOW)[1] is None
    # 2 s late: what was not read yet is no silence either, as the operator's was as late.
    late = replace(FACTS, trust=replace(FACTS.trust, measured=(replace(AT_32, lag_ms=4_000),)))
    assert watch(late, LEARNT, sees(16), NOW)[1] is None
