"""A pool whose actuators only read: its target stands until new evidence, and nothing rests after a change that nobody
made."""

from dataclasses import replace

import pytest

from sluice.pools.policy.by_hand import standing
from sluice.pools.policy.decision import Action, Basis, Decision
from sluice.pools.policy.observation import Constraints, Observation
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState
from sluice.pools.policy.step import step
from sluice.pools.policy.trust import RefusedSize, Trust
from sluice.pools.policy.view import View
from sluice.pools.policy.worth import Choice, Outlook
from sluice_kit.decide.feeds import evidence, full, nothing

NOW = 1_700_000_000_000
KNOWN = evidence(8, 12, 16, 20, 32, 64, seconds=30)
START = PoolState(
    Facts(NOW - 1_000, 64), Learnt(evidence=KNOWN, full=(1.0,) * 5, until_ms=NOW - 1_100, completed_ms=NOW - 1_100)
)


def sees(size: int, by_hand: bool = True) -> Observation:
    return Observation({"target-0": size, "target-1": size}, nothing(), 4.0, 10.0, by_hand=by_hand)


def decided(seconds: int, by_hand: bool, from_metrics: bool = False) -> list[Decision]:
    """In turn the pool is full, when it may leap to the range, and nearly full, when it takes a step."""
    state, decisions = START, []
    for second in range(seconds):
        share = 0.8 if second // 4 % 2 else 1.0
        now_ms = NOW + 1_000 * second
        learnt = replace(state.learnt, full=(share,) * 5, until_ms=now_ms - 1_100, completed_ms=now_ms - 1_100)
        seen = replace(sees(64, by_hand), from_metrics=from_metrics)
        state, decision = step(replace(state, learnt=learnt), seen, now_ms)
        decisions.append(decision)
    return decisions


def test_the_target_stands_where_the_noise_of_a_second_would_change_it() -> None:
    alternating, steady = decided(24, by_hand=False), decided(24, by_hand=True)
    assert len({decision.target for decision in alternating}) == 2
    assert "WAITING" in {decision.reasons[0][0] for decision in alternating}
    assert {(decision.target, decision.action) for decision in steady} == {(steady[0].target, Action.APPLY)}
    assert {(code, decision.targets) for decision in steady for code, _ in decision.reasons} == {("BETTER", ())}


def test_the_target_of_a_pool_without_an_actuator_stands_too() -> None:
    """A pool of waitress, whose size is a bound, had 4, 5, 16 and 4 within 80 s."""
    steady = decided(24, by_hand=False, from_metrics=True)
    assert {(decision.target, decision.action) for decision in steady} == {(steady[0].target, Action.HOLD)}
    assert {code for decision in steady for code, _ in decision.reasons} == {"BETTER", "NO_ACTUATOR"}


def test_a_size_that_somebody_sets_as_advised_is_ours_and_its_data_is_awaited() -> None:
    after, first = step(START, sees(64), NOW)
    assert first.target is not None
    later = NOW + 3_600_000
    fresh = replace(after.learnt, until_ms=later - 1_100, completed_ms=later - 1_100)
    after, made = step(replace(after, learnt=fresh), sees(first.target), later)
    assert [code for code, _ in made.reasons] == ["WAITING"]
    change = after.facts.change
    assert change is not None
    assert (change.from_size, change.to_size, change.at_ms) == (64, first.target, later)
    seen = replace(sees(first.target), buckets=full(later + 100, 3, first.target))
    _, next_ = step(after, seen, later + 4_000)
    assert [code for code, _ in next_.reasons] != ["WAITING"]


OUTLOOK = Outlook(best=11, lower=10, upper=12, loss=0.5)
BETTER_11, BETTER_32, BETTER_48 = (Choice(size, 0.1, 3.0, look=False) for size in (11, 32, 48))
LOOK_70 = Choice(70, 0.0, 0.0, look=True)


@pytest.mark.parametrize(
    ("last", "choice", "target"),
    [
        (32, BETTER_11, 32),
        (11, BETTER_32, 11),
        (14, BETTER_32, 32),
        (32, BETTER_48, 48),
        (80, BETTER_32, 32),
        (50, LOOK_70, 70),
    ],
)
def test_a_target_stands_on_the_way_to_the_choice_or_in_the_range(last: int, choice: Choice, target: int) -> None:
    change = Change(64, last, NOW, Basis.CURVE)
    stood = standing(View(64, None, OUTLOOK, choice), change, Trust(), Constraints(), NOW).choice
    assert stood == replace(choice, size=target)


@pytest.mark.parametrize(
    ("last", "lower", "upper", "stands"),
    [(32, 10, 12, True), (11, 10, 12, True), (80, 10, 12, False), (32, 10, 64, False), (32, 70, 80, False)],
)
def test_a_target_stands_while_the_load_is_light(last: int, lower: int, upper: int, stands: bool) -> None:
    """The demo's catalogue had 12, 7, 12, 7 within minutes: each light minute forgot that the pool had been full."""
    light = View(64, None, Outlook(best=lower, lower=lower, upper=upper, loss=0.5, gain=0.2, sure_by=2.0), None)
    stood = standing(light, Change(64, last, NOW, Basis.CURVE), Trust(), Constraints(), NOW).choice
    assert stood == (Choice(last, 0.2, 2.0, look=False) if stands else None)


def test_a_look_stands_while_another_is_as_good_and_no_size_stands_that_is_refused_or_not_legal() -> None:
    change, view = Change(64, 60, NOW, Basis.PROBE), View(64, None, OUTLOOK, LOOK_70)
    assert standing(view, change, Trust(), Constraints(), NOW).choice == replace(LOOK_70, size=60)
    assert standing(view, change, Trust(), Constraints(least=61), NOW) == view
    refused = Trust(refused=(RefusedSize(60, 64, NOW + 1),))
    assert standing(view, change, refused, Constraints(), NOW) == view
