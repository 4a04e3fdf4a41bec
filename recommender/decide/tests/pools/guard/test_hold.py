"""What is proposed when there is no estimate."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.pools.estimate import Estimate, State
from sluice.pools.estimate.collapse import Collapse
from sluice.pools.estimate.memory import Carried, Footing, Kind, Prior, Rates, Remembered
from sluice.pools.guard import LastGood, propose
from sluice.pools.guard.situation import Lost, Situation

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


def test_a_step_that_is_known_to_have_gained_is_followed_by_the_next_within_the_window() -> None:
    soon = replace(situation(8, unchanged_ms=10_000), gained=1)
    assert propose(estimate(State.UNSATURATED, pool_limited=True), soon).target == 10
    assert propose(estimate(State.UNSATURATED, pool_limited=True), replace(soon, unchanged_ms=9_999)).target == 8
    assert propose(estimate(State.UNSATURATED, pool_limited=False), soon).target == 8


@pytest.mark.parametrize("state", [State.NO_DATA, State.LEARNING])
def test_a_starving_pool_is_explored_though_no_curve_can_be_seen(state: State) -> None:
    starving = replace(situation(8), starving=True)
    assert propose(estimate(state), starving).target == 10
    assert propose(estimate(state), replace(starving, unchanged_ms=WINDOW - 1)).target == 8
    failed = replace(starving, failed_up_ms=NOW - EXPLORE_AFTER + 1, failed_down_ms=NOW - EXPLORE_AFTER + 1)
    assert propose(estimate(state), failed).target == 8
    back = replace(starving, current=10, back=8, failed_up_ms=NOW)
    assert propose(estimate(State.LEARNING), back).target == 8
    assert propose(estimate(state), replace(starving, current=None)).target is None


def test_nothing_is_explored_where_a_larger_pool_is_of_no_use() -> None:
    futile = replace(situation(8), futile=True)
    assert propose(estimate(State.UNSATURATED, pool_limited=True), futile).target == 8
    assert propose(estimate(State.LEARNING), replace(futile, starving=True)).target == 8
    back = replace(futile, current=10, back=8, failed_up_ms=NOW)
    assert propose(estimate(State.UNSATURATED, pool_limited=True), back).target == 8


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
        (Kind.SCALED, 24, 12, 24),
        (Kind.SCALED, 48, 12, 24),
        (Kind.SCALED, 13, 12, 13),
        (Kind.SCALED, 6, 12, 9),
        (Kind.SCALED, 1, 1, 1),
    ],
)
@pytest.mark.parametrize("state", [State.NO_DATA, State.LEARNING])
def test_after_a_change_what_is_remembered_stands_in(
    state: State, kind: Kind, target: int, found: int, proposed: int
) -> None:
    """An old optimum (50, from before the change) does not; twice what was seen is the most, a step down the least."""
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


GROWN, BACK = Carried(10, 5, Footing(2.0), here=False), Carried(5, 5, Footing(2.0), here=True)


def scaled(current: int, carried: Carried, full: bool = True, changed_s: int | None = None) -> Situation:
    """The CPU limit changed 10 s ago."""
    ago = None if changed_s is None else 1000 * changed_s
    return replace(situation(current), since_ms=NOW - 10_000, since_change_ms=ago, carried=carried, short_lately=full)


@pytest.mark.parametrize("state", [State.NO_DATA, State.LEARNING, State.UNSATURATED])
def test_a_full_pool_grows_with_its_cpu_limit_once(state: State) -> None:
    def proposed(now: Situation) -> tuple[int | None, bool]:
        proposal = propose(estimate(state), now)
        return proposal.target, "CARRIED_OVER" in [reason.code for reason in proposal.reasons]

    assert proposed(scaled(5, GROWN)) == (10, True)
    assert proposed(scaled(5, GROWN, changed_s=11)) == (10, True)
    assert not proposed(scaled(5, GROWN, full=False))[1]
    assert not proposed(scaled(9, GROWN, changed_s=9))[1]  # somebody resized it on the new footing
    assert not proposed(scaled(12, GROWN))[1]
    assert proposed(scaled(10, BACK, full=False)) == (5, True)


def test_what_was_estimated_comes_before_a_size_that_is_carried_over() -> None:
    assert propose(estimate(State.PROVIDED, 7), scaled(5, GROWN)).target == 7
    remembered = replace(scaled(5, GROWN), prior=memory(Kind.SAME, 8, 8))
    assert propose(estimate(State.LEARNING), remembered).target == 8
    known = replace(scaled(5, GROWN), last_good=LastGood(6, NOW - 5_000))
    assert propose(estimate(State.LEARNING), known).target == 6


def test_a_step_that_stands_is_held_not_the_optimum_from_before_it() -> None:
    later = replace(situation(8, LastGood(6, NOW - 20_000)), stands_ms=NOW - 10_000)
    assert propose(estimate(State.LEARNING), later).target == 8
    found_since = replace(later, last_good=LastGood(6, NOW - 5_000))
    assert propose(estimate(State.LEARNING), found_since).target == 6


def test_a_step_that_gained_nothing_is_taken_back_and_not_tried_again_soon() -> None:
    nothing = replace(situation(10), back=8, failed_up_ms=NOW)
    taken = propose(estimate(State.UNSATURATED, pool_limited=True), nothing)
    assert (taken.target, taken.reasons[0].code) == (8, "WENT_BACK")
    again = replace(situation(8), failed_up_ms=NOW - EXPLORE_AFTER + 1)
    assert propose(estimate(State.UNSATURATED, pool_limited=True), again).target == 8
    later = replace(situation(8), failed_up_ms=NOW - EXPLORE_AFTER)
    assert propose(estimate(State.UNSATURATED, pool_limited=True), later).target == 10


@pytest.mark.parametrize(("size", "less"), [(60, 45), (8, 6), (5, 4), (3, 2), (2, 1)])
def test_a_starving_pool_is_tried_smaller_when_a_larger_one_gained_nothing(size: int, less: int) -> None:
    failed = replace(situation(size), starving=True, failed_up_ms=NOW - 1)
    proposal = propose(estimate(State.LEARNING), failed)
    assert (proposal.target, proposal.reasons[0].code, proposal.explores) == (less, "EXPLORE_DOWN", True)
    both = replace(failed, failed_down_ms=NOW - EXPLORE_AFTER + 1)
    assert propose(estimate(State.LEARNING), both).target == size
    assert propose(estimate(State.LEARNING), replace(failed, served=True)).target == size


def test_a_pool_is_never_tried_at_nothing() -> None:
    one = replace(situation(1), starving=True, failed_up_ms=NOW - 1)
    assert propose(estimate(State.LEARNING), one).target == 1


@pytest.mark.parametrize("state", [State.LEARNING, State.UNSATURATED])
@pytest.mark.parametrize(("size", "target"), [(60, 30), (30, 15), (13, 7), (8, 7)])
def test_a_pool_that_collapses_is_tried_where_most_completed_or_half_way(state: State, size: int, target: int) -> None:
    seen = replace(situation(size), collapse=Collapse(7, repeated=True))
    proposal = propose(estimate(state), seen)
    assert (proposal.target, proposal.reasons[0].code, proposal.explores) == (target, "EXPLORE_DOWN", True)
    assert propose(estimate(state), replace(seen, unchanged_ms=WINDOW - 1)).target == size
    assert propose(estimate(state), replace(seen, failed_down_ms=NOW - 1)).target == size


def test_where_most_completed_at_the_size_itself_nothing_is_smaller() -> None:
    seen = replace(situation(7), collapse=Collapse(7, repeated=True))
    assert propose(estimate(State.UNSATURATED), seen).target == 7


def test_a_collapse_that_can_be_other_requests_waits_until_a_larger_pool_gained_nothing() -> None:
    once = replace(situation(60), collapse=Collapse(7, repeated=False))
    limited = estimate(State.UNSATURATED, pool_limited=True)
    assert propose(limited, once).target == 75
    assert propose(limited, replace(once, failed_up_ms=NOW - 1)).target == 30
    assert propose(limited, replace(once, gained=-1)).target == 30  # the step before already led down, and gained


def test_steps_down_that_gain_do_not_wait_for_the_cool_down() -> None:
    first = replace(situation(60), collapse=Collapse(7, repeated=True))
    limited = estimate(State.UNSATURATED, pool_limited=True)
    assert not propose(limited, first).measured
    assert propose(limited, replace(first, gained=-1, unchanged_ms=10_000)).measured
    assert propose(limited, replace(first, back=80)).measured


def test_an_optimum_that_starves_its_callers_is_explored() -> None:
    lately = replace(situation(8, LastGood(8, NOW - 1)), starving=True)
    assert propose(estimate(State.UNSATURATED, pool_limited=True), lately).target == 10


def test_a_size_that_lost_is_taken_back_and_none_nearer_to_it_tried_soon() -> None:
    lost = Lost(from_size=10, to_size=2, at_ms=NOW - 1)
    taken = propose(estimate(State.PROVIDED, 2), replace(situation(2), back=10, lost=lost))
    assert (taken.target, taken.reasons[0].code, taken.measured) == (10, "WENT_BACK", True)
    there = replace(situation(10), lost=lost)
    assert [propose(estimate(State.PROVIDED, size), there).target for size in (2, 6, 7, 10, 12)] == [10, 10, 7, 10, 12]
    assert propose(estimate(State.PROVIDED, 2), replace(there, now_ms=NOW + EXPLORE_AFTER)).target == 2
    assert propose(estimate(State.PROVIDED, 12), replace(situation(2), back=10, lost=lost)).target == 12
    assert propose(estimate(State.UNSATURATED), replace(situation(2), back=10, lost=lost)).target == 10
