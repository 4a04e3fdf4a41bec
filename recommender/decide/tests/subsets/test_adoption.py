"""Whether callers follow their subsets, from the calls that they made."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.model.keys import SubsetKey
from sluice.subsets.adoption import AdoptionVerdict, differs, distance, verdict
from sluice.subsets.callers import Adoption, PlanInForce, judged
from sluice.subsets.observed import ObservedCalls

HALF_OF_FOUR = np.array([0.5, 0.5, 0.0, 0.0])


@pytest.mark.parametrize(
    ("counts", "ratio", "error"),
    [
        ((52, 44, 2, 2), 0.0192 - 0.04, 0.0514),  # 4 x (0.02² + 0.06² + 0.02² + 0.02²) - 4 / 100
        ((25, 25, 25, 25), 1 - 0.04, 0.202),  # 16 x (4 x 0.0625 / 100 + 2 x 0.25 / 100²) = 0.0408
        ((38, 38, 12, 12), 0.2304 - 0.04, 0.101),  # 4 x 4 x 0.12²
        ((100, 0, 0, 0), 2 - 0.04, 0.404),  # 16 x (4 x 0.25 / 100 + 2 / 100²) = 0.1632
    ],
)
def test_the_worked_distances(counts: tuple[int, ...], ratio: float, error: float) -> None:
    found = distance(HALF_OF_FOUR, np.array(counts, dtype=float))
    assert found is not None
    assert found.ratio == pytest.approx(ratio)
    assert found.error == pytest.approx(error, abs=1e-3)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((52, 44, 2, 2), AdoptionVerdict.FOLLOWS),
        ((25, 25, 25, 25), AdoptionVerdict.NOT_FOLLOWING),
        ((38, 38, 12, 12), AdoptionVerdict.UNKNOWN),  # half of the way
        ((100, 0, 0, 0), AdoptionVerdict.NOT_FOLLOWING),  # one of its two: nearer to the plan than to even routing
        ((0, 0, 50, 50), AdoptionVerdict.NOT_FOLLOWING),
        ((13, 11, 0, 0), AdoptionVerdict.UNKNOWN),  # 24 calls
        ((0, 0, 0, 0), AdoptionVerdict.UNKNOWN),
    ],
)
def test_verdicts_of_a_plan_for_half_of_the_containers(counts: tuple[int, ...], expected: AdoptionVerdict) -> None:
    assert verdict(HALF_OF_FOUR, np.array(counts, dtype=float)) is expected


def test_a_plan_that_is_even_shows_nothing() -> None:
    assert verdict(np.full(4, 0.25), np.full(4, 1e6)) is AdoptionVerdict.UNKNOWN
    assert verdict(np.array([0.2525, 0.2475, 0.25, 0.25]), np.array([4e6, 0.0, 0.0, 0.0])) is AdoptionVerdict.UNKNOWN


def test_the_ratio_of_a_caller_that_follows_with_a_part_of_its_calls() -> None:
    """(1 - a)² for a part a: 0.7 of the calls by the plan, 0.3 even."""
    mixed = distance(HALF_OF_FOUR, 1e6 * (0.7 * HALF_OF_FOUR + 0.3 / 4))
    assert mixed is not None
    assert mixed.ratio == pytest.approx(0.09, abs=1e-4)


@given(
    weights=st.lists(st.integers(0, 400), min_size=2, max_size=40).filter(lambda drawn: sum(drawn) > 0),
    calls=st.integers(30, 100_000),
    number=st.integers(0, 2**32 - 1),
)
def test_a_caller_that_follows_is_not_called_otherwise(weights: list[int], calls: int, number: int) -> None:
    """Poisson counts of the plan. With 3 standard errors above 1/4 a wrong verdict is out of reach of chance."""
    plan = np.array(weights) / sum(weights)
    drawn = np.random.default_rng(number).poisson(calls * plan).astype(float)
    assert verdict(plan, drawn) is not AdoptionVerdict.NOT_FOLLOWING


@given(
    weights=st.lists(st.integers(0, 400), min_size=2, max_size=40).filter(lambda drawn: sum(drawn) > 0),
    calls=st.integers(30, 100_000),
    number=st.integers(0, 2**32 - 1),
)
def test_even_routing_is_not_taken_for_a_plan(weights: list[int], calls: int, number: int) -> None:
    plan = np.array(weights) / sum(weights)
    drawn = np.random.default_rng(number).poisson(np.full(len(plan), calls / len(plan))).astype(float)
    assert verdict(plan, drawn) is not AdoptionVerdict.FOLLOWS


def test_when_observed_shares_are_others() -> None:
    """100 calls to 4 containers: from a distance of (3 + 3 x sqrt(6)) / 100 + 0.05 = 0.1535 on. 45, 19, 18, 18 have
    4 x (0.2² + 0.06² + 2 x 0.07²) = 0.2136; 42, 20, 19, 19: 4 x (0.17² + 0.05² + 2 x 0.06²) = 0.1544; 41, 20, 20, 19:
    4 x (0.16² + 2 x 0.05² + 0.06²) = 0.1368."""
    even = np.full(4, 0.25)
    assert differs(np.array([45.0, 19.0, 18.0, 18.0]), even)
    assert differs(np.array([42.0, 20.0, 19.0, 19.0]), even)
    assert not differs(np.array([41.0, 20.0, 20.0, 19.0]), even)
    assert not differs(np.array([29.0, 0.0, 0.0, 0.0]), even), "too few"


KEY = SubsetKey("front", "front-0", "cart")
PLAN = PlanInForce(1, {"cart-0": 0.5, "cart-1": 0.5})
LIVE = {"cart": frozenset(f"cart-{at}" for at in range(4))}


def calls(counts: tuple[int, ...], start_s: int, key: SubsetKey = KEY) -> list[ObservedCalls]:
    return [
        ObservedCalls(key.upstream, key.instance, key.downstream, f"cart-{at}", start_s, count)
        for at, count in enumerate(counts)
    ]


def seen(now_s: float = 0.0, last: Adoption | None = None, plan: PlanInForce = PLAN) -> Adoption:
    return judged(last or Adoption(), {KEY: plan}, (), LIVE, now_s)


def test_a_plan_has_ten_seconds_to_arrive() -> None:
    first = seen(100.0)
    assert first.verdicts == {KEY: AdoptionVerdict.UNKNOWN}
    early = judged(first, {KEY: PLAN}, calls((25, 25, 25, 25), 109), LIVE, 120.0)
    assert early.verdicts == {KEY: AdoptionVerdict.UNKNOWN}
    later = judged(early, {KEY: PLAN}, calls((25, 25, 25, 25), 110), LIVE, 120.0)
    assert later.verdicts == {KEY: AdoptionVerdict.NOT_FOLLOWING}
    assert later.fixed == {KEY: None}, "even"


def test_another_revision_is_judged_anew_and_the_verdict_stays_until_then() -> None:
    first = judged(seen(), {KEY: PLAN}, calls((25, 25, 25, 25), 10), LIVE, 20.0)
    second = PlanInForce(2, {"cart-2": 0.5, "cart-3": 0.5})
    moved = judged(first, {KEY: second}, calls((50, 50, 0, 0), 20), LIVE, 30.0)
    assert moved.verdicts == {KEY: AdoptionVerdict.NOT_FOLLOWING}, "no call since"
    assert moved.since == {KEY: (2, 30.0)}
    follows = judged(moved, {KEY: second}, calls((0, 0, 50, 50), 40), LIVE, 50.0)
    assert follows.verdicts == {KEY: AdoptionVerdict.FOLLOWS}
    assert follows.fixed == {}


def test_windows_add_up() -> None:
    some = [call for start_s in (10, 20, 30) for call in calls((10, 10, 0, 0), start_s)]
    assert judged(seen(), {KEY: PLAN}, some[:8], LIVE, 40.0).verdicts == {KEY: AdoptionVerdict.FOLLOWS}
    assert judged(seen(), {KEY: PLAN}, some[:4], LIVE, 40.0).verdicts == {KEY: AdoptionVerdict.UNKNOWN}


def test_the_shares_of_a_caller_that_calls_one_container() -> None:
    first = judged(seen(), {KEY: PLAN}, calls((0, 0, 0, 100), 10), LIVE, 20.0)
    assert first.fixed == {KEY: {"cart-0": 0.0, "cart-1": 0.0, "cart-2": 0.0, "cart-3": 1.0}}
    same = judged(first, {KEY: PLAN}, calls((0, 0, 1, 99), 10), LIVE, 30.0)
    assert same.fixed is first.fixed, "within Poisson counts: the same object"


def test_a_caller_that_is_gone_leaves_nothing() -> None:
    first = judged(seen(), {KEY: PLAN}, calls((25, 25, 25, 25), 10), LIVE, 20.0)
    assert judged(first, {}, (), LIVE, 30.0) == Adoption()


def test_containers_that_are_gone_do_not_count() -> None:
    """Calls to cart-9, which is not live, and a plan that names it."""
    plan = PlanInForce(1, {"cart-0": 0.25, "cart-1": 0.25, "cart-9": 0.5})
    stray = ObservedCalls("front", "front-0", "cart", "cart-9", 10, 1_000)
    found = judged(seen(plan=plan), {KEY: plan}, [*calls((50, 50, 0, 0), 10), stray], LIVE, 20.0)
    assert found.verdicts == {KEY: AdoptionVerdict.FOLLOWS}


@given(
    counts=st.lists(st.tuples(*[st.integers(0, 60)] * 4), min_size=1, max_size=6),
    weights=st.lists(st.tuples(*[st.integers(0, 9)] * 4).filter(any), min_size=6, max_size=6),
)
def test_calls_of_unknown_callers_change_nothing(counts: list[tuple[int, ...]], weights: list[tuple[int, ...]]) -> None:
    """The solver's input is the same without them."""
    keys = [KEY._replace(instance=f"front-{at}") for at in range(len(counts))]
    there = {
        key: PlanInForce(1, {f"cart-{at}": part / sum(drawn) for at, part in enumerate(drawn)})
        for key, drawn in zip(keys, weights, strict=False)
    }
    all_calls = [call for key, drawn in zip(keys, counts, strict=True) for call in calls(drawn, 10, key)]
    first = judged(Adoption(), there, (), LIVE, 0.0)
    found = judged(first, there, all_calls, LIVE, 20.0)
    clear = {key.instance for key, verdict in found.verdicts.items() if verdict is not AdoptionVerdict.UNKNOWN}
    without = judged(first, there, [call for call in all_calls if call.instance in clear], LIVE, 20.0)
    assert without == found
    assert {key for key, verdict in found.verdicts.items() if verdict is AdoptionVerdict.NOT_FOLLOWING} == set(
        found.fixed
    )
