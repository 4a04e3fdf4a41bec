"""Evidence is carried along the wait for callees, and only where that wait is not the pool's own doing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.estimate.belief.evidence import Evidence, Second
from sluice.pools.policy.carry import OURS_MS
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.learn import learn
from sluice.pools.policy.observation import Buckets, Observation
from sluice.pools.policy.state import Change, Learnt, PoolState
from sluice.pools.policy.step import step
from sluice.pools.policy.waits import Stay, Waits, moved
from sluice_kit.decide.feeds import buckets, joined

T0 = 1_700_000_000_000
QUICK = Stay(wait_s=0.001, own_s=0.002, completions=1_000, seconds=1.0)
SLOW = QUICK._replace(wait_s=0.011)
KNOWN = Waits(0.001, 0.001, 0.002)


def served(start_ms: int, seconds: float, size: int, in_flight: float, rate: float, wait_s: float) -> Buckets:
    """As `buckets`, of requests that wait so long for a callee."""
    plain = buckets(start_ms, seconds, size, in_flight, rate)
    return replace(plain, waiting=np.full(len(plain), rate * wait_s))


def levels(learnt: Learnt) -> list[tuple[float, float]]:
    """Concurrency and completions a second of each level."""
    return [
        (round(level.in_flight_s / level.seconds, 2), round(level.completions / level.seconds))
        for level in learnt.evidence.levels
    ]


def test_the_first_second_is_what_the_evidence_is_for() -> None:
    assert moved(None, QUICK) == (KNOWN, 0.0)


def test_a_callee_that_slows_carries_the_evidence_at_once_and_back() -> None:
    slow, by_s = moved(KNOWN, SLOW)
    assert (slow, by_s) == (Waits(0.011, 0.011, 0.002), pytest.approx(0.010))
    back, by_s = moved(slow, QUICK)
    assert (back, by_s) == (pytest.approx(KNOWN), pytest.approx(-0.010))


@pytest.mark.parametrize(
    ("stay", "why"),
    [
        (SLOW._replace(ours=1), "the pool has just grown: the callee may be at its limit"),
        (SLOW._replace(own_s=0.0024), "the service computes longer: its CLIENT spans wait for its CPU"),
    ],
)
def test_a_wait_that_may_be_the_pools_doing_moves_nothing(stay: Stay, why: str) -> None:
    waits, by_s = moved(KNOWN, stay)
    assert by_s == 0.0, why
    assert waits.evidence_s == 0.011  # later seconds are compared with this wait


def test_relief_after_the_pool_shrank_moves_nothing() -> None:
    assert moved(Waits(0.011, 0.011, 0.002), QUICK._replace(ours=-1))[1] == 0.0
    assert moved(Waits(0.011, 0.011, 0.004), QUICK)[1] == 0.0


def test_few_requests_are_no_change_of_the_callee() -> None:
    """Of 9 that wait 4 ms instead of 2, the mean is uncertain by 4 / 3 ms, and 4 times that is more than 2."""
    waits, by_s = moved(Waits(0.002, 0.002, 0.002), Stay(0.004, 0.002, 9, 1.0))
    assert (waits.mean_s, by_s) == (pytest.approx(0.002018), 0.0)


@given(st.floats(1e-4, 0.5), st.floats(-0.97, 40.0))
def test_evidence_carried_there_and_back_is_the_same(stay_s: float, times: float) -> None:
    """times: the change of the wait, in stays."""
    second = Second(4.0, False, False, concurrency=100 * stay_s, completions=100.0, seconds=1.0)
    there = Evidence().with_second(second).carried(times * stay_s)
    assert there.levels[0].in_flight_s == pytest.approx(100 * stay_s * (1 + times))
    assert there.carried(-times * stay_s).levels[0].in_flight_s == pytest.approx(100 * stay_s)


def test_some_of_the_concurrency_is_always_left() -> None:
    """A level whose requests stay 40 ms, and would wait 50 ms less."""
    second = Second(4.0, False, False, concurrency=4.0, completions=100.0, seconds=1.0)
    assert second.carried(-0.05).concurrency == pytest.approx(0.08)
    assert Evidence().with_second(second).carried(-0.05).levels[0].in_flight_s == pytest.approx(0.08)


def test_a_pool_that_fills_as_its_callee_slows_is_known_to_be_too_small() -> None:
    """The example of waits.py: 4 in flight at 1,270 a second, then 10 of 10 at 700, with waits of 1.2 and 12 ms."""
    before = learn(Learnt(), served(T0, 10, 10, 4.0, 1_270, 0.0012), slo_s=0.25)
    after = learn(before, served(T0 + 10_000, 3, 10, 10.0, 724, 0.012), slo_s=0.25)
    assert levels(before) == [(4.0, 1_270)]
    assert levels(after) == [(17.72, 1_270), (10.0, 724)]
    assert not after.doubt.aside
    back = learn(after, served(T0 + 13_000, 3, 10, 4.0, 1_270, 0.0012), slo_s=0.25)
    assert levels(back)[0] == (4.0, 1_270)


def test_seconds_that_come_at_once_count_as_those_that_come_one_by_one() -> None:
    """A decider that catches up reads the seconds of both waits together."""
    before, after = served(T0, 10, 10, 4.0, 1_270, 0.0012), served(T0 + 10_000, 3, 10, 10.0, 724, 0.012)
    first = learn(Learnt(), before.take(slice(0, 60)), slo_s=0.25)
    rest = joined(before.take(slice(60, None)), after)
    rest = replace(rest, waiting=np.concatenate([before.waiting[60:], after.waiting]))
    assert levels(learn(first, rest, slo_s=0.25)) == [(17.72, 1_270), (10.0, 724)]


def test_the_answer_says_for_a_minute_that_the_evidence_was_carried() -> None:
    state, answers = PoolState(), []
    for second in range(80):
        slow = second >= 10
        part = served(
            T0 + 1_000 * second, 1, 10, 10.0 if slow else 4.0, 724 if slow else 1_270, 0.012 if slow else 0.0012
        )
        seen = Observation({"a": 10}, part, 4.0, 0.25)
        state, decision = step(state, seen, T0 + 1_000 * (second + 1))
        answers.append(dict(decision.reasons).get("CALLEE_WAIT"))
    assert answers[9] is None
    assert answers[10:70] == ["requests wait 12 ms for callees; the evidence was carried there"] * 60
    assert answers[71] is None


@pytest.mark.parametrize("wait_s", [0.25, 1.0])
def test_where_requests_wait_longer_than_the_slo_nothing_is_carried(wait_s: float) -> None:
    before = learn(Learnt(), served(T0, 10, 10, 4.0, 1_270, 0.0012), slo_s=0.25)
    after = learn(before, served(T0 + 10_000, 1, 10, 10.0, 10 / wait_s / 1.01, wait_s), slo_s=0.25)
    assert after.waits == before.waits


def test_a_change_of_the_pool_is_its_doing_for_a_while() -> None:
    grown = Change(5, 10, T0 + 9_000, Basis.CURVE)
    before = learn(Learnt(), served(T0, 10, 10, 4.0, 1_270, 0.0012), slo_s=0.25)
    soon = learn(before, served(T0 + 10_000, 1, 10, 10.0, 724, 0.012), grown, slo_s=0.25)
    assert levels(soon)[0] == (4.0, 1_270)
    later_ms = T0 + 9_000 + OURS_MS
    later = learn(before, served(later_ms, 1, 10, 10.0, 724, 0.012), grown, slo_s=0.25)
    assert levels(later)[0] == (17.72, 1_270)


@pytest.mark.parametrize(
    ("rate", "wait_s", "carried"),
    [
        (1_200, 0.0064, True),  # own time 10 / 1,200 s - 6.4 ms = 1.93 ms, where it was 1.95
        (1_200, 0.0061, False),  # 2.23 ms: the service computes longer too
        (1_200, 0.0067, False),  # 1.63 ms: it computes less
        (744, 0.0120, True),  # 1.44 ms at a lower throughput, where the CPU is less busy
        (700, 0.0120, False),  # 2.29 ms, although it is less busy
    ],
)
def test_only_a_service_that_computes_as_long_is_the_same(rate: float, wait_s: float, carried: bool) -> None:
    before = learn(Learnt(), served(T0, 10, 10, 4.0, 1_270, 0.0012), slo_s=0.25)
    after = learn(before, served(T0 + 10_000, 1, 10, 10.0, rate, wait_s), slo_s=0.25)
    assert (after.waits is not None and after.waits.carried_ms == T0 + 10_000) == carried


@pytest.mark.parametrize("waiting", [float("nan"), 11.0])
def test_an_unknown_wait_and_calls_in_parallel_change_nothing(waiting: float) -> None:
    known = buckets(T0, 10, 10, 10.0, 700)
    found = learn(Learnt(), replace(known, waiting=np.full(len(known), waiting)), slo_s=0.25)
    assert found == learn(Learnt(), known, slo_s=0.25)
    assert found.waits is None


def test_a_wait_that_is_known_for_a_third_of_a_second_is_its_wait() -> None:
    known = served(T0, 1, 10, 4.0, 1_270, 0.0012)
    known.waiting[4:] = np.nan
    assert learn(Learnt(), known, slo_s=0.25).waits == pytest.approx((0.0012, 0.0012, 4 / 1_270 - 0.0012, -1))
    known.waiting[3:] = np.nan
    assert learn(Learnt(), known, slo_s=0.25).waits is None
