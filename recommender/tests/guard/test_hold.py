"""What is proposed when there is no estimate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.estimate import Estimate, State
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
