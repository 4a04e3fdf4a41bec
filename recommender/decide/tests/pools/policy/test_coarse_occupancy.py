"""Occupancy by metrics with a point a minute: it says that a full pool is full, and lets nothing be applied."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.model.states import State
from sluice.pools.estimate.belief.evidence import Evidence, Second
from sluice.pools.policy.allowed import was_full
from sluice.pools.policy.decision import Action, Decision
from sluice.pools.policy.observation import Observation, Occupancy
from sluice.pools.policy.pace import Beat
from sluice.pools.policy.reported import shown, with_occupancy
from sluice.pools.policy.state import NOTHING_SHOWN, Facts, Learnt, PoolState, Shown
from sluice.pools.policy.step import step
from sluice.pools.policy.trust import Trust
from sluice_kit.decide.feeds import buckets, evidence, nothing

NOW = 1_700_000_000_000
LIGHT = Evidence()
for _ in range(20):
    LIGHT = LIGHT.with_second(Second(4.0, False, False, 0.4, 180.0, 1.0))
FULL = Occupancy(4.0, 12.0, 1.0, NOW - 30_000, busy_most=4, waiting_most=12, readings=2, coarse=True)
IDLE = Occupancy(1.0, 0.0, 0.0, NOW - 30_000, busy_most=2, waiting_most=0, readings=2, coarse=True)


def decided(seen: Evidence, size: int, occupancy: Occupancy | None, *beats: Beat, busy: float = 0.0) -> Decision:
    """busy: the share of full buckets in the newest seconds."""
    learnt = Learnt(evidence=seen, full=(busy,) * 5, until_ms=NOW - 1_100, completed_ms=NOW - 1_100, beats=beats)
    observation = Observation({"a": size}, nothing(), 4.0, 10.0, occupancy=occupancy)
    return step(PoolState(Facts(NOW - 1_000, size, trust=Trust(size, NOW - 60_000)), learnt), observation, NOW)[1]


def test_a_pool_that_spans_never_showed_full_is_known_as_full() -> None:
    """Connections are held between queries: 0.4 of 4 in flight, and 12 callers wait."""
    without, found = decided(LIGHT, 4, None), decided(LIGHT, 4, FULL)
    assert (without.state, without.reasons[0][0]) == (State.UNSATURATED, "NEVER_FULL")
    assert (found.action, found.target, found.state) == (Action.HOLD, 4, State.LEARNING)
    assert found.reasons[0][0] == "UNACCOUNTED"
    assert found.reasons[0][1].endswith(": metrics have 4 of 4 in use, and spans never showed it full")


def test_where_spans_showed_the_pool_full_nothing_changes() -> None:
    known = evidence(8, 12, 16, 20, 32, 64, seconds=30)
    full = replace(FULL, busy=64.0, busy_most=64)
    assert decided(known, 64, full, busy=1.0) == decided(known, 64, None, busy=1.0)


def test_an_idle_pool_is_not_grown() -> None:
    found = decided(LIGHT, 4, IDLE)
    assert (found.action, found.target, found.state) == (Action.HOLD, 4, State.UNSATURATED)


def test_spans_that_disagree_with_the_size_still_hold_the_pool() -> None:
    """Eight in flight of 4 connections for 4 s. An actuator's readings would say how many are in use."""
    beats = [Beat(NOW // 1_000 - 5 + at, 4, 100.0, 0.0, 8.0, 1.0) for at in range(4)]
    for occupancy, code in ((None, True), (IDLE, True), (replace(IDLE, coarse=False), False)):
        found = decided(LIGHT, 4, occupancy, *beats)
        assert (found.reasons[0][0] == "SPANS_DISAGREE") is code


def test_coarse_readings_replace_no_spans_and_are_no_full_seconds() -> None:
    by_spans = buckets(NOW, 1, 4, 0.4, 10.0)
    assert with_occupancy(by_spans, FULL) is by_spans
    assert not was_full(Learnt(), 4, FULL)


@pytest.mark.parametrize(
    ("by_spans", "queued", "most", "in_flight"),
    [
        # Go's transactions: 56 of 64 by spans, 61.4 in the busiest second (0.96). 0.75 x 0.96 x 64 = 46.08.
        (56.0, 2.0, 0.96, 64.0),
        (46.1, 0.2, 0.96, 64.0),
        (46.0, 2.0, 0.96, 46.0),
        # Callers waited for less than 12 s of a minute.
        (56.0, 0.19, 0.96, 56.0),
        # Spans that show less than half at the most do not tell when the pool was full: 31 of 64 are 0.484.
        (31.0, 2.0, 0.484, 31.0),
        # More than the size is for the guard to say.
        (66.0, 2.0, 1.0, 66.0),
    ],
)
def test_callers_that_waited_show_a_pool_that_is_held_between_queries(
    by_spans: float, queued: float, most: float, in_flight: float
) -> None:
    found = with_occupancy(buckets(NOW, 1, 64, by_spans, 100.0), replace(IDLE, queued=queued), most=most)
    assert found.concurrency.tolist() == [in_flight] * 10


def test_the_most_that_spans_show_counts_for_two_minutes() -> None:
    """56 of 64 are 0.875; 61.44 are 0.96."""
    first = shown(NOTHING_SHOWN, buckets(NOW, 1, 64, 61.44, 100.0))
    assert first == (pytest.approx(0.96), NOW)
    assert shown(first, buckets(NOW + 119_000, 1, 64, 56.0, 100.0)) == first
    assert shown(first, buckets(NOW + 121_000, 1, 64, 56.0, 100.0)) == (0.875, NOW + 121_000)
    assert shown(first, buckets(NOW + 1_000, 1, 64, 64.0, 100.0)) == (1.0, NOW + 1_000)
    assert shown(first, nothing()) == first


def test_a_pool_whose_callers_wait_is_known_though_spans_fill_seven_eighths_of_it() -> None:
    """Thirty seconds of the operator's 64, 56 by spans. Without waiting callers it was never full."""
    state = {queued: PoolState() for queued in (0.0, 2.0)}
    found = {}
    for queued, kept in state.items():
        occupancy = replace(IDLE, queued=queued)
        for at in range(30):
            now_ms = NOW + 1_000 * (at + 1)
            given = buckets(NOW + 1_000 * at, 1, 64, 56.0, 36.0)
            observation = Observation({"a": 64}, given, 4.0, 10.0, occupancy=occupancy, from_metrics=True)
            kept, found[queued] = step(kept, observation, now_ms)
        state[queued] = kept
    assert (found[0.0].state, found[0.0].reasons[0][0]) == (State.UNSATURATED, "NEVER_FULL")
    assert found[2.0].state is not State.UNSATURATED
    assert state[2.0].learnt.evidence.ever_full(4.0)


def test_of_an_actuator_s_pool_callers_that_waited_change_nothing() -> None:
    """Nor where spans showed 0.96 of it before the actuator came."""
    occupancy, state = replace(IDLE, queued=2.0), PoolState(learnt=Learnt(shown=Shown(0.96, NOW)))
    for at in range(30):
        given = buckets(NOW + 1_000 * at, 1, 64, 56.0, 36.0)
        observation = Observation({"a": 64}, given, 4.0, 10.0, occupancy=occupancy)
        state, found = step(state, observation, NOW + 1_000 * (at + 1))
    assert found.reasons[0][0] == "NEVER_FULL"


@pytest.mark.parametrize("size", [16, 64])
@settings(max_examples=20)
@given(
    busy=st.integers(0, 80),
    full=st.sampled_from((0.0, 0.5, 0.9, 1.0)),
    waiting=st.one_of(st.none(), st.integers(0, 50)),
    readings=st.integers(2, 20),
    share=st.sampled_from((0.0, 0.5, 1.0)),
)
def test_no_figures_let_a_held_pool_be_applied(
    size: int, busy: int, full: float, waiting: int | None, readings: int, share: float
) -> None:
    known = evidence(8, 12, 16, 20, 32, 64, seconds=30)
    figures = Occupancy(busy, waiting, full, NOW - 60_000, busy, waiting, readings, coarse=True)
    for seen in (known, LIGHT):
        without, found = decided(seen, size, None, busy=share), decided(seen, size, figures, busy=share)
        assert found.action is Action.HOLD or (found.action, found.target) == (without.action, without.target)
