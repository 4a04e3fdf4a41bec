"""The number of connections where no quota is set: the fewest that suffice; it stays, and moves within the budget."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.model.keys import SubsetKey
from sluice.subsets.application import Application, Call, Container, Host, Root, Service
from sluice.subsets.churn import NamedConnections, churn, named_connections
from sluice.subsets.connections import Connections
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.carry import solve_again, solve_on, solved_on
from sluice.subsets.microns.loop import NEAR, unlimited
from sluice.subsets.microns.number import FALLS, fewest, note_on, numbers
from sluice.subsets.microns.reference import Optimum
from sluice.subsets.microns.settings import MicronsSettings, NumberRule
from sluice.subsets.microns.solve import Solved, solve
from sluice.subsets.plan import plan
from sluice.subsets.predict import all_curves, predict
from sluice.subsets.problem import Problem, problem, usual
from sluice.subsets.state import Cause, Inputs, SubsetState
from sluice.subsets.strategy_result import answer
from sluice_kit.decide.closed_loops import Loop


class Slower:
    """ln(latency) rises by `steep` for each 10 calls per second, and by `apart` for each 1.0 of CPU."""

    basis = "by the test"

    def __init__(self, steep: float, apart: float) -> None:
        self._steep, self._apart = steep, apart

    def curves(self, contention: np.ndarray) -> Curves:
        rate = np.linspace(0.0, 400.0, 41)
        mu = np.tile(self._steep * rate / 10, (len(contention), 1)) + self._apart * contention[:, :1]
        return Curves(rate, mu, np.full(mu.shape, 0.3))


EVEN = LatencyModel({}, Slower(0.1, 0.0))
UNEVEN = LatencyModel({}, Slower(0.5, 4.0))
KEEP, RISE, MOVE = NumberRule.KEEP, NumberRule.RISE, NumberRule.MOVE


def app(
    callers: int, called: int, quota: int | None = None, cpu: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6)
) -> Application:
    """a calls x, 20 times a second for each caller."""
    hosts = tuple(Host(f"h{at}", cpu=used) for at, used in enumerate(cpu))
    services = tuple(
        Service(name, tuple(Container(f"{name}-{at:02}", f"h{at % len(cpu)}") for at in range(count)))
        for name, count in (("a", callers), ("x", called))
    )
    return Application(hosts, services, (Root("read", 20.0 * callers, Call("a", ((Call("x"),),))),), quota=quota)


def settings(rule: NumberRule, budget: float = 0.05, weights: bool = True) -> MicronsSettings:
    return MicronsSettings(number=rule, churn_budget=budget, weights=weights)


def solved(posed: Problem, model: LatencyModel, how: MicronsSettings) -> Solved:
    return solve(posed, all_curves(posed, model), how)


def named(one: Solved) -> NamedConnections:
    return named_connections(one.problem, one.solution)


def count(one: Solved) -> int:
    return sum(map(len, one.solution.subsets))


def apart(one: Solved) -> float:
    """The predicted latency, relative to that of unlimited connections."""
    floor = unlimited(Optimum(one.problem, one.curves, one.references))
    return predict(one.problem, one.curves, one.solution.subsets).mean_ms / floor


def test_numbers_to_try_grow_by_a_tenth_up_to_the_usual_number() -> None:
    assert numbers(10, 14) == [10, 11, 13, 14]
    assert numbers(9, 9) == [9]
    assert numbers(2, 4) == [2, 3, 4]


def test_where_all_containers_are_alike_the_fewest_legal_connections_suffice() -> None:
    """8 callers with 2 each at least, 8 called: 2 each reach each of them twice, and loads are even."""
    posed = problem(app(8, 8))
    one = solved(posed, EVEN, settings(KEEP))
    assert (count(one), usual(posed.pairs)) == (16, 32)
    assert one.problem.quota == 16
    assert note_on(one.problem)[0] in one.solution.notes
    assert "chose 16 connections" in note_on(one.problem)[0]


def test_between_two_numbers_that_are_tried_it_takes_the_fewest_of_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 callers 80 to 160 connections, and 83 suffice: 80 does not, 88 does, then 84 does and 82 does not."""
    tried: list[int] = []

    def latency(optimum: Optimum, placed: list[Connections]) -> float:
        tried.append(sum(map(len, placed)))
        return 1.0 if tried[-1] >= 83 else 2.0

    posed = problem(app(40, 40))
    best = solved(posed, EVEN, MicronsSettings()).references
    monkeypatch.setattr("sluice.subsets.microns.number.latency_of", latency)
    monkeypatch.setattr("sluice.subsets.microns.number.unlimited", lambda optimum: 1.0)
    assert fewest(Optimum(posed, all_curves(posed, EVEN), best), settings(KEEP)) == 84
    assert tried == [80, 88, 84, 82]


def test_without_samples_and_for_a_set_quota_nothing_is_chosen() -> None:
    assert count(solved(problem(app(8, 8)), EVEN, MicronsSettings())) == 32
    one = solved(problem(app(8, 8, quota=20)), EVEN, settings(KEEP))
    assert count(one) == 20
    assert not any("chose" in line for line in one.solution.notes)
    assert sum(map(len, answer(app(8, 8), "microns", {}).solution.subsets)) == 32


def test_without_weights_more_connections_are_needed_and_chosen() -> None:
    """Whole connections of equal share miss loads that differ; each number with less misses more than NEAR."""
    posed = problem(app(12, 12))
    one = solved(posed, UNEVEN, settings(KEEP, weights=False))
    assert 24 < count(one) <= 48
    weighted = solved(posed, UNEVEN, settings(KEEP))
    assert count(weighted) < count(one)
    assert apart(weighted) <= NEAR


@pytest.mark.parametrize(
    ("callers", "called", "expected"),
    [(8, 8, 20), (12, 8, 30), (8, 12, 20), (16, 8, 40), (4, 8, 10), (8, 32, 40)],
)
def test_the_number_follows_the_containers_in_proportion_to_the_fewest_legal_ones(
    callers: int, called: int, expected: int
) -> None:
    """20 connections of 8 callers and 8 called, fewest 16. Of 12 callers: fewest 24, 20 * 24 / 16 = 30. Of 32 called:
    fewest 32, since each is reached: 20 * 32 / 16 = 40, beyond the usual 32, which is all that is legal to choose: 32.
    """
    first = solved(problem(app(8, 8, quota=20)), EVEN, settings(KEEP))
    again = problem(app(callers, called))
    on = solve_again(first, again, all_curves(again, EVEN), settings(KEEP, 0.0))
    assert count(on) == min(expected, again.quota)
    by_name = solve_on(again, all_curves(again, EVEN), settings(KEEP, 0.0), named(first))
    assert sum(map(len, by_name.subsets)) == min(expected, again.quota)


def test_a_rollout_brings_the_number_back() -> None:
    """Each of 8 callers is replaced by one with another name: 9 for a while, then 8."""
    now = solved(problem(app(8, 8, quota=20)), EVEN, settings(KEEP))
    names = [f"a-{at:02}" for at in range(8)]
    for at in range(8):
        for fleet in ([*names, f"b-{at:02}"], [*names[1:], f"b-{at:02}"]):
            callers = Service("a", tuple(Container(name, "h0") for name in fleet))
            posed = problem(replace(app(8, 8), services=(callers, app(8, 8).services[1])))
            now = solve_again(now, posed, all_curves(posed, EVEN), settings(KEEP))
            assert count(now) == (20 if len(fleet) == 8 else 22), "20 * 18 / 16 = 22.5"
        names = fleet
    assert count(now) == 20


def test_a_pair_that_was_fully_connected_gets_the_usual_number() -> None:
    """2 callers of 2: 4 connections, which show no choice. With 8 called 4 each."""
    first = solved(problem(app(2, 2)), EVEN, settings(KEEP))
    again = problem(app(2, 8))
    assert count(solve_again(first, again, all_curves(again, EVEN), settings(KEEP, 0.0))) == 8


def test_the_number_rises_within_the_budget_where_the_prediction_is_worse() -> None:
    """Without weights 24 even connections miss uneven loads. 10 % of 24 are 2."""
    posed = problem(app(12, 12))
    first = solved(posed, EVEN, settings(KEEP, weights=False))
    assert count(first) == 24
    counts, now = [], first
    for _ in range(40):
        before = now
        now = solve_again(now, posed, all_curves(posed, UNEVEN), settings(RISE, 0.1, weights=False))
        counts.append(count(now))
        assert churn(named(before), named(now)) <= 0.1
    assert counts == sorted(counts)
    assert counts[-1] > 24
    assert counts[-1] == counts[-5], "it comes to rest"


def test_the_number_falls_within_the_budget_and_only_where_the_rule_says_so() -> None:
    """From 32 of 8 callers: 5 % are 1. It ends at 16, since all containers are alike."""
    posed = problem(app(8, 8))
    curves = all_curves(posed, EVEN)
    now = solved(posed, EVEN, MicronsSettings())
    assert count(solve_again(now, posed, curves, settings(KEEP))) == 32
    assert count(solve_again(now, posed, curves, settings(RISE))) == 32
    assert count(solve_again(now, posed, curves, settings(MOVE, 0.0))) == 32
    for _ in range(40):
        before, now = now, solve_again(now, posed, curves, settings(MOVE))
        assert count(before) - 1 <= count(now) <= count(before)
        assert churn(named(before), named(now)) <= 0.05
        assert apart(now) <= FALLS
    assert count(now) in range(16, 21), "below 20 connections 5 % are none"


LIKE = st.sampled_from([EVEN, UNEVEN, LatencyModel({}, Slower(0.05, 1.0))])


@given(
    st.integers(1, 12), st.integers(1, 12), LIKE, st.booleans(), st.lists(st.floats(0.0, 0.8), min_size=1, max_size=5)
)
def test_it_is_legal_deterministic_and_a_second_solve_changes_nothing(
    callers: int, called: int, model: LatencyModel, weights: bool, cpu: list[float]
) -> None:
    posed = problem(app(callers, called, cpu=tuple(cpu)))
    how = settings(KEEP, weights=weights)
    one, other = (solved(posed, model, how) for _ in range(2))
    assert named(one) == named(other)
    pair = one.problem.pairs[0]
    assert pair.fewest <= count(one) <= usual(posed.pairs)
    assert (one.solution.subsets[0].sizes() >= pair.least).all()
    assert len(np.unique(one.solution.subsets[0].to)) == called
    again = solve_again(one, posed, one.curves, how)
    restarted = solved_on(posed, one.curves, replace(how, churn_budget=0.0), named(one))
    for later in (again, restarted):
        assert {key: set(ends) for key, ends in named(later).items()} == {
            key: set(ends) for key, ends in named(one).items()
        }


def test_the_decider_chooses_at_the_start_and_a_restart_continues_from_what_is_published() -> None:
    state, run = plan(None, Inputs(app(8, 8), EVEN), 0.0)
    assert state is not None
    assert count(state.solved) == 16
    published = named(state.solved)
    after, run = plan(None, Inputs(app(8, 8), EVEN, previous=published), 0.0)
    assert after is not None
    assert run is not None
    assert (run.cause, run.churn, count(after.solved)) == (Cause.START, 0.0, 16)


def test_the_decider_starts_without_samples_at_the_usual_number_and_falls_with_each_new_model() -> None:
    """32, and 5 % less with each model: 1 connection."""
    nothing = latency_model({}, [], 10.0)
    state, _ = plan(None, Inputs(app(8, 8), nothing), 0.0)
    counts = [count(state.solved)] if state is not None else []
    for number in range(1, 4):
        state, run = plan(state, Inputs(app(8, 8), LatencyModel({}, EVEN.other)), 60.0 * number)
        assert isinstance(state, SubsetState)
        assert run is not None
        assert run.cause is Cause.TRAINED
        assert run.churn <= 0.05
        counts.append(count(state.solved))
    assert counts == [32, 31, 30, 29]


def test_the_number_stays_while_some_callers_do_not_follow() -> None:
    """Connections are chosen as if all callers followed: fewer would rest on loads that nobody brings."""
    state, _ = plan(None, Inputs(app(8, 8), latency_model({}, [], 10.0)), 0.0)
    fixed = {SubsetKey("a", "a-00", "b"): None}
    for number in range(1, 4):
        inputs = Inputs(app(8, 8), LatencyModel({}, EVEN.other), fixed=fixed)
        state, run = plan(state, inputs, 60.0 * number)
        assert state is not None
        assert run is not None
        assert (run.cause, count(state.solved)) == (Cause.TRAINED, 32)


def test_a_step_of_weights_leaves_the_number() -> None:
    """What a trial of weights shows is their effect, and not that of more connections."""
    loop = Loop(np.random.default_rng(2).uniform(0.05, 0.6, 16), 0.3)
    counts: list[int] = []
    steps = 0
    for _ in range(6 * 20):
        ended = len(loop.runs)
        loop.window()
        assert loop.state is not None
        counts.append(count(loop.state.solved))
        if len(loop.runs) > ended and loop.runs[-1].cause is Cause.WEIGHTS:
            steps += 1
            assert counts[-1] == counts[-2]
    assert steps > 5


def test_a_drift_does_not_take_connections_away() -> None:
    state, _ = plan(None, Inputs(app(8, 8, quota=32), EVEN), 0.0)
    state, run = plan(state, Inputs(app(8, 8, cpu=(0.5, 0.7, 0.9, 0.6)), EVEN), 60.0)
    assert state is not None
    assert run is not None
    assert (run.cause, count(state.solved)) == (Cause.DRIFT, 32)
