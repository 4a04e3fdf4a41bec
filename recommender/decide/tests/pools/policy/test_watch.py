"""What the guard is shown: by hand."""

from dataclasses import replace

import pytest

from sluice.model.demand import Demand
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.observation import Constraints, Observation, Occupancy
from sluice.pools.policy.pace import Beat, with_beats
from sluice.pools.policy.state import Change, Facts, Learnt
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.trust import OperatorLook, SizeRecord, Trust
from sluice.pools.policy.watch import watch
from sluice_kit.decide.feeds import buckets, evidence, nothing

NOW = 1_700_000_000_000
AT_32 = SizeRecord(32, 100.0, 0.25, 0.0, 4.0)


def told(busy: float, full_share: float, most: int = 20, readings: int = 10) -> Occupancy:
    return Occupancy(busy, None, full_share, NOW, busy_most=most, readings=readings, busy_30_s=busy)


def sees(*sizes: int | None, paused: str = "") -> Observation:
    named = {f"target-{at}": size for at, size in enumerate(sizes)}
    return Observation(named, nothing(), 4.0, 1.0, constraints=Constraints(paused=paused))


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


@pytest.mark.parametrize(
    ("reported", "case"),
    [
        (told(0.0, 0.0, most=0, readings=1), None),
        # Something was in use, or a caller waited; readings are too far apart, or there are none.
        (told(0.5, 0.0, most=1, readings=2), Case.COLLAPSED),
        (replace(told(0.0, 0.0, most=0), waiting=0.5, waiting_most=1), Case.COLLAPSED),
        (replace(told(0.0, 0.0, most=0), coarse=True), Case.COLLAPSED),
        (None, Case.COLLAPSED),
    ],
)
def test_silence_after_a_change_is_no_collapse_of_a_pool_that_is_reported_idle(
    reported: Occupancy | None, case: Case | None
) -> None:
    verdict = watch(FACTS, LEARNT, replace(sees(16), occupancy=reported), NOW)[1]
    assert (verdict.case if verdict else None) is case


@pytest.mark.parametrize(("waiting", "looks"), [(None, False), (6.0, False), (7.0, True)])
def test_the_guard_is_shown_that_most_callers_wait(waiting: float | None, looks: bool) -> None:
    """60 a second at 64, in which spans show 6 in use; 100 a second at 32, the operator's."""
    since_ms = NOW - 200_000
    facts = Facts(NOW - 1_000, 64, Change(32, 64, since_ms, Basis.CURVE), trust=Trust(32, since_ms, (AT_32,)))
    beats = tuple(Beat(NOW // 1_000 - 31 + at, 64, 60.0, 0.0, 6.0, 1.0) for at in range(30))
    demand = Demand(NOW - 30_000, 90.0, in_time=0.5, in_flight=6.0, waiting=waiting)
    found = watch(facts, replace(LEARNT, beats=beats, demand=demand), sees(64), NOW)[1]
    assert (found is not None) == looks


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
