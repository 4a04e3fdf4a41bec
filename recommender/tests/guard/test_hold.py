"""What is proposed when there is no estimate."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.estimate import Estimate, State
from sluice.estimate.memory import Footing, Kind, Prior, Rates, Remembered
from sluice.guard import LastGood, propose
from sluice.guard.hold import Situation

NOW = 10_000_000
WINDOW, EXPLORE_AFTER = 60_000, 600_000


def situation(current: int | None, good: LastGood | None = None, unchanged_ms: int = WINDOW) -> Situation:
    return Situation(NOW, current, unchanged_ms, good, WINDOW, EXPLORE_AFTER)


def estimate(state: State, target: int | None = None, pool_limited: bool = False) -> Estimate:
    return Estimate(state, (), target=target, pool_limited=pool_limited)


def test_an_estimate_is_proposed_as_it_is() -> None:
    assert propose(estimate(State.PROVIDED, 12), situation(64)).target == 12


@pytest.mark.parametrize("state", [State.NO_DATA, State.LEARNING])
def test_missing_data_repeats_the_last_good_value_or_nothing(state: State) -> None:
    held = propose(estimate(state), situation(64, LastGood(12, 0)))
    assert (held.target, [reason.code for reason in held.reasons]) == (12, ["HELD"])
    assert propose(estimate(state), situation(64)).target is None


def codes(pool_limited: bool, good: LastGood | None, unchanged_ms: int = WINDOW) -> tuple[int | None, str]:
    proposal = propose(estimate(State.UNSATURATED, pool_limited=pool_limited), situation(8, good, unchanged_ms))
    return proposal.target, proposal.reasons[0].code


def test_unsaturated_keeps_the_current_size() -> None:
    assert codes(False, None) == (8, "KEPT")


def test_a_pool_that_hides_its_curve_grows_by_a_quarter_once_a_window() -> None:
    assert codes(True, None) == (10, "EXPLORE")
    assert codes(True, None, unchanged_ms=WINDOW - 1) == (8, "KEPT")


def test_not_while_an_optimum_was_found_lately() -> None:
    assert codes(True, LastGood(8, NOW - EXPLORE_AFTER + 1)) == (8, "KEPT")
    assert codes(True, LastGood(8, NOW - EXPLORE_AFTER)) == (10, "EXPLORE")


def test_the_smallest_pool_grows_by_one() -> None:
    proposal = propose(estimate(State.UNSATURATED, pool_limited=True), situation(1))
    assert proposal.target == 2


@given(st.integers(1, 1000), st.booleans(), st.none() | st.integers(1, 1000), st.integers(0, 2 * WINDOW))
def test_unsaturated_never_shrinks(current: int, limited: bool, good: int | None, unchanged_ms: int) -> None:
    last = None if good is None else LastGood(good, NOW - 1)
    target = propose(estimate(State.UNSATURATED, pool_limited=limited), situation(current, last, unchanged_ms)).target
    assert target is not None
    assert target >= current


def memory(kind: Kind, target: int, found: int) -> Prior:
    nothing = np.empty(0)
    rates = Rates(nothing, nothing, nothing, nothing)
    return Prior(kind, target, Footing(1.0), Remembered(0, found, found, found, "scg", 100.0, 100, rates))


@pytest.mark.parametrize(
    ("kind", "target", "found", "proposed"),
    [
        (Kind.SAME, 30, 30, 30),
        (Kind.SCALED, 24, 12, 15),
        (Kind.SCALED, 13, 12, 13),
        (Kind.SCALED, 6, 12, 9),
        (Kind.SCALED, 1, 1, 1),
    ],
)
@pytest.mark.parametrize("state", [State.NO_DATA, State.LEARNING])
def test_after_a_change_what_is_remembered_stands_in(
    state: State, kind: Kind, target: int, found: int, proposed: int
) -> None:
    """An old optimum (50, from before the change) does not; one step at most leads away from what was seen."""
    after = replace(situation(50, LastGood(50, NOW - 1)), since_ms=NOW - 2_000, prior=memory(kind, target, found))
    assert propose(estimate(state), after).target == proposed
    known = replace(after, last_good=LastGood(40, NOW), since_ms=NOW - 5_000)
    assert propose(estimate(state), known).target == 40
    unchanged = replace(after, since_ms=None)
    assert propose(estimate(state), unchanged).target == 50


def test_an_optimum_from_before_a_change_does_not_stop_exploration() -> None:
    lately = replace(situation(8, LastGood(8, NOW - 1)), since_ms=NOW - 60_000)
    assert propose(estimate(State.UNSATURATED, pool_limited=True), lately).target == 8
    before = replace(situation(8, LastGood(8, NOW - 60_000)), since_ms=NOW - 60_000)
    assert propose(estimate(State.UNSATURATED, pool_limited=True), before).target == 10


def test_a_step_that_gained_nothing_is_taken_back_and_not_tried_again_soon() -> None:
    nothing = replace(situation(10), back=8, failed_ms=NOW)
    taken = propose(estimate(State.UNSATURATED, pool_limited=True), nothing)
    assert (taken.target, taken.reasons[0].code) == (8, "WENT_BACK")
    again = replace(situation(8), failed_ms=NOW - EXPLORE_AFTER + 1)
    assert propose(estimate(State.UNSATURATED, pool_limited=True), again).target == 8
    later = replace(situation(8), failed_ms=NOW - EXPLORE_AFTER)
    assert propose(estimate(State.UNSATURATED, pool_limited=True), later).target == 10
