"""What contradicts the belief: the worked values, and each way that doubt ends."""

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.fast.belief import away_from
from sluice.pools.estimate.belief.cache import believed
from sluice.pools.estimate.belief.doubt import (
    FORGET,
    LONGEST_S,
    MOST_A_SECOND,
    NEAR,
    SET_ASIDE,
    Doubt,
    DoubtVerdict,
    _together,
    believe,
    contradiction,
    contradictions,
)
from sluice.pools.estimate.belief.evidence import TAU_SATURATED, Evidence, Second
from sluice.pools.estimate.belief.family import family
from sluice.pools.estimate.belief.posterior import Posterior, posterior
from sluice_kit.decide.feeds import FALLS, evidence, seconds_of


def belief(seen: Evidence) -> Posterior:
    return posterior(family(), seen.rows(4.0), 4.0)


def within_2_percent() -> Posterior:
    """Predicts ln 100 at 10 in flight with a standard deviation of 2 %, what a row's mean has of errors included."""
    seen = Evidence().with_second(Second(4.0, True, True, 10.0, 100.0, 1.0))
    now = belief(seen)
    # One shape, known to the digit but for its speed; nothing local.
    one = replace(now, shapes=now.shapes[:1], weight=np.ones(1), ln_speed=now.ln_speed[:1])
    none = replace(one, spread=0.0, speed_variance=0.02**2 - TAU_SATURATED**2)
    assert none.predict(10.0, full=True) == (pytest.approx(log(100)), pytest.approx(0.02**2 - TAU_SATURATED**2))
    return none


@pytest.mark.parametrize(("off", "ratio"), [(0.01, -3.4), (-0.01, -3.4), (0.08, 4.4), (-0.08, 4.4), (0.2, 5.0)])
def test_worked_values(off: float, ratio: float) -> None:
    # 1 %: 0.01^2 / 2 x (1 / 0.0004 - 1 / 0.4904) - ln(0.4904 / 0.0004) / 2 = 0.12 - 3.56
    new = Second(4.0, True, True, 10.0, 100.0 * exp(off), 1.0)
    assert contradiction(within_2_percent(), new, dispersion=0.0) == pytest.approx(ratio, abs=0.05)


def away(now: Posterior, new: Second) -> float:
    return float(away_from(now.rows.columns, np.log([new.concurrency]), np.array([new.full]), NEAR)[0])


def test_far_from_what_was_seen_nothing_is_a_contradiction() -> None:
    now = belief(evidence(30))
    first = Second(4.0, True, True, 60.0, FALLS.throughput(30), 1.0)
    # ln 2 = 0.69 away, 0.06 of which are near.
    assert away(now, first) == pytest.approx(log(2) - 0.06)
    for rate in (0.7, 1.3):
        mean, _ = now.predict(60.0, full=True)
        assert contradiction(now, Second(4.0, True, True, 60.0, exp(mean) * rate, 1.0), 1.0) < 0
    known = belief(evidence(30, 60))
    assert away(known, first) == 0
    mean, _ = known.predict(60.0, full=True)
    assert contradiction(known, Second(4.0, True, True, 60.0, exp(mean) * 0.7, 1.0), 1.0) > SET_ASIDE


def test_the_nearest_row_is_one_of_the_same_kind_where_there_is_one() -> None:
    light = Second(4.0, False, False, 30.0, 300.0, 1.0)
    now = belief(evidence(30))
    assert away(now, light) == 0  # no other kind is known
    both = belief(evidence(30).with_second(Second(4.0, False, False, 10.0, 200.0, 1.0)))
    assert away(both, light) == pytest.approx(log(3) - 0.06)


def test_several_seconds_are_judged_as_each_is() -> None:
    now = belief(evidence(10, 30).with_second(Second(4.0, False, False, 5.0, 200.0, 1.0)))
    new = [Second(4.0, full, full, n, n * 10, 1.0) for n in (5.0, 20.0, 60.0) for full in (True, False)]
    assert contradictions(now, new, 1.0) == pytest.approx([contradiction(now, each, 1.0) for each in new])


def at(rate: float, seconds: float = 1.0) -> Second:
    return Second(4.0, True, True, 16.0, rate * seconds, seconds)


KNOWN = evidence(8, 16, 32)
RATE = FALLS.throughput(16)


def take(rates: list[float]) -> list[DoubtVerdict]:
    seen, doubt, found = KNOWN, Doubt(), []
    for rate in rates:
        found.append(believe(seen, doubt, at(rate), belief(seen)))
        seen, doubt = found[-1].evidence, found[-1].doubt
    return found


def test_what_is_as_believed_is_taken_in() -> None:
    (verdict,) = take([RATE])
    assert verdict == DoubtVerdict(KNOWN.with_second(at(RATE)), Doubt())


def test_with_too_little_evidence_on_these_cores_nothing_is_doubted() -> None:
    little = evidence(16, seconds=3)
    assert little.seconds_on(4.0) < 4
    verdict = believe(little, Doubt(1.5, (at(1.0),)), at(RATE / 4), belief(little))
    assert verdict == DoubtVerdict(little.with_second(at(RATE / 4)), Doubt())
    elsewhere = replace(at(RATE / 4), cores=2.0)
    assert believe(KNOWN, Doubt(), elsewhere, belief(KNOWN)).evidence == KNOWN.with_second(elsewhere)


def test_a_service_that_became_another_is_learnt_anew() -> None:
    first, then = take([RATE / 2, RATE / 2])
    # At most 5 a second: one second sets itself aside, and takes two to forget.
    assert (first.doubt.score, first.doubt.aside, first.moved) == (MOST_A_SECOND, (at(RATE / 2),), False)
    assert first.evidence == KNOWN
    assert 2 * MOST_A_SECOND > FORGET
    assert then.moved
    assert then.doubt == Doubt()
    assert then.evidence == Evidence().with_second(at(RATE / 2)).with_second(at(RATE / 2))


def test_a_single_bad_second_is_believed_after_all() -> None:
    aside, still, back = take([RATE / 2, RATE, RATE])
    assert aside.doubt.aside == (at(RATE / 2),)
    # 5, then 2 to 3 less for each that is as believed: once it is not above 2 all are taken in, in their order.
    assert SET_ASIDE < still.doubt.score < 3
    assert back.doubt.score < SET_ASIDE
    assert back.doubt.aside == ()
    assert back.evidence == KNOWN.with_second(at(RATE / 2)).with_second(at(RATE)).with_second(at(RATE))


def test_while_nobody_told_the_cores_a_service_that_became_another_is_learnt_anew_as_well() -> None:
    seen, doubt = evidence(8, 16, 32, cores=0.0), Doubt()
    for _ in range(2):
        new = replace(at(RATE / 2), cores=0.0)
        verdict = believe(seen, doubt, new, posterior(family(), seen.rows(0.0), 0.0))
        seen, doubt = verdict.evidence, verdict.doubt
    assert verdict.moved
    assert seconds_of(seen) == pytest.approx(2, rel=0.01)


def test_seconds_that_say_nothing_cannot_be_contradicted() -> None:
    """A service that completes a request in a while: no level has 3 completions, in however many seconds."""
    seen = Evidence()
    for size in range(1, 9):
        seen = seen.with_second(Second(4.0, True, True, float(size), 1.0, 1.0))
    assert len(seen.rows(4.0)) == 0
    new = Second(4.0, True, True, 20.0, 1.0, 1.0)
    assert seen.seconds_on(4.0) >= 4
    assert believe(seen, Doubt(), new, belief(seen)) == DoubtVerdict(seen.with_second(new), Doubt())


@given(st.lists(st.floats(0.1, 3.0), min_size=1, max_size=12))
@settings(deadline=None, max_examples=30)
def test_doubt_ends(factors: list[float]) -> None:
    """Seconds lie aside while the score is above 2, and for 5 s at most."""
    for verdict in take([RATE * factor for factor in factors]):
        assert sum(each.seconds for each in verdict.doubt.aside) <= LONGEST_S
        assert 0 <= verdict.doubt.score <= FORGET
        assert (verdict.doubt.score > SET_ASIDE) == bool(verdict.doubt.aside)
        if verdict.moved:
            assert seconds_of(verdict.evidence) <= LONGEST_S + 1
            assert verdict.doubt == Doubt()


def test_full_it_does_less_than_with_as_many_in_flight_before() -> None:
    """Never full, and 4.8 in flight at 1,300 a second. Then it is full at 10, and does 720: that may be beyond an edge.
    At 5 it does 360, and 5 are no more than were in flight: it is another service."""
    seen = Evidence().with_seconds(Second(4.0, False, False, 4.8, 1_300.0, 1.0) for _ in range(30))
    ten, five = Second(4.0, True, True, 10.0, 720.0, 1.0), Second(4.0, True, True, 5.0, 360.0, 1.0)
    seen = seen.with_second(ten)
    fallen = believe(seen, Doubt(), ten, belief(seen))
    assert fallen.doubt == Doubt()
    first = believe(fallen.evidence, Doubt(), five, belief(fallen.evidence))
    assert (first.doubt.aside, first.moved) == ((five,), False)
    then = believe(first.evidence, first.doubt, five, belief(first.evidence))
    assert then == DoubtVerdict(Evidence().with_seconds([five, five]), Doubt(), moved=True)


def saturated(n: float, rate: float, seconds: int = 1) -> list[Second]:
    return [Second(4.0, True, True, n, rate, 1.0)] * seconds


def doubted(seen: Evidence, seconds: list[Second]) -> DoubtVerdict:
    verdict = DoubtVerdict(seen, Doubt())
    for new in seconds:
        verdict = believe(verdict.evidence, verdict.doubt, new, believed(None, verdict.evidence, 4.0).now)
    return verdict


def test_the_second_in_which_a_size_falls_forgets_nothing_of_smaller_ones() -> None:
    """Half of it the pool was not full: 23.8 in flight, and 23 a second."""
    seen = Evidence().with_seconds([*saturated(23, 74, 15), *saturated(27, 81, 6), *saturated(30, 85, 6)])
    falls = [Second(4.0, False, False, 23.8, 23.0, 1.0), *saturated(30, 8, 2)]
    verdict = doubted(seen, falls)
    assert not verdict.moved
    rates = {
        round(level.in_flight_s / level.seconds): level.completions / level.seconds for level in verdict.evidence.levels
    }
    assert rates == {23: pytest.approx(74), 27: pytest.approx(81), 30: pytest.approx(8)}


def test_a_size_that_fell_for_moments_and_stands_again_takes_nothing_else_with_it() -> None:
    """29 did 8 and 23 for two seconds. Then it does 86 and 83, about as 27 did."""
    seen = Evidence().with_seconds(
        [*saturated(20, 61, 10), *saturated(27, 80, 10), *saturated(29, 8), *saturated(29, 23)]
    )
    assert believed(None, seen, 4.0).now.edge is not None
    verdict = doubted(seen, [*saturated(29, 86), *saturated(29, 83)])
    assert not verdict.moved
    assert believed(None, verdict.evidence, 4.0).now.edge is None
    assert seconds_of(verdict.evidence) == pytest.approx(22, rel=0.03)
    # 50 is under 80 x exp(-0.3) = 59: the size is still one that fell.
    assert believed(None, doubted(seen, saturated(29, 50, 3)).evidence, 4.0).now.edge is not None


def test_worked_values_of_seconds_together() -> None:
    known = belief(Evidence().with_second(Second(4.0, True, True, 6.0, 260.0, 1.0)))
    one = replace(known, shapes=known.shapes[:1], weight=np.ones(1), ln_speed=known.ln_speed[:1])
    now = replace(one, spread=0.0, speed_variance=0.011**2 - TAU_SATURATED**2)
    new = Second(4.0, True, True, 6.0, 300.0, 1.0)
    assert contradiction(now, new, 1.0) == pytest.approx(0.46, abs=0.005)
    assert _together(now, (new,) * 5, 1.0) == pytest.approx(9.76, abs=0.005)
    # Of several kinds or sizes.
    assert _together(now, (new, replace(new, saturated=False)), 1.0) == 0.0
    assert _together(now, (new, replace(new, concurrency=8.0)), 1.0) == 0.0


def test_seconds_that_are_off_by_little_are_judged_together() -> None:
    """265 a second, and 305 from now on: 14 %, of which chance makes 6 % in a second, and 3 % in five."""
    seen = Evidence().with_seconds([*saturated(4, 180, 20), *saturated(6, 260, 40), *saturated(8, 252, 7)])
    verdict = doubted(seen, saturated(6, 305, 3))
    assert 0 < verdict.doubt.score < FORGET
    assert len(verdict.doubt.aside) > 0
    assert doubted(seen, saturated(6, 305, 12)).evidence.seconds_on(4.0) < 13
