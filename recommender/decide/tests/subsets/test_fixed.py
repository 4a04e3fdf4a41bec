"""Callers that do not follow their subsets: their calls are fixed, and the others' weights make up for them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sluice.model.keys import SubsetKey
from sluice.subsets.application import Application, Container, Service
from sluice.subsets.churn import named_connections
from sluice.subsets.connections import connections, flow, realized
from sluice.subsets.contention import own_loads
from sluice.subsets.fixed import FixedFlows, same_flows, with_fixed
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.balance import balance
from sluice.subsets.microns.reference import Reference
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.solve import solve
from sluice.subsets.microns.traffic import left, movable, traffic_of
from sluice.subsets.microns.weigh import weighed
from sluice.subsets.plan import plan
from sluice.subsets.predict import all_curves
from sluice.subsets.problem import Problem, problem
from sluice.subsets.state import Cause, Inputs, SubsetState
from sluice_kit.decide.applications import chain, hosts, service

MODEL = latency_model({}, [], 10.0)


def key(number: int) -> SubsetKey:
    return SubsetKey("a", f"a-{number}", "b")


def even(*numbers: int) -> FixedFlows:
    return {key(number): None for number in numbers}


def test_without_fixed_flows_the_problem_is_the_same_object() -> None:
    posed = problem(chain())
    assert with_fixed(posed, {}) is posed
    assert with_fixed(posed, {SubsetKey("a", "a-gone", "b"): None}) is posed
    assert with_fixed(with_fixed(posed, even(0)), {}).pairs[0].fixed is None


def test_flows_are_compared_by_their_shares() -> None:
    posed = problem(chain())
    one, other = with_fixed(posed, even(0)), with_fixed(posed, {key(0): {"b-0": 1.0}})
    assert same_flows(one, with_fixed(posed, even(0)), "b")
    assert not same_flows(one, other, "b")
    assert not same_flows(one, posed, "b")
    assert same_flows(one, other, "a")


def test_realized_loads_by_hand() -> None:
    """Two callers of 50 calls/s, four containers. a-0 follows: 40 and 10 to the first two; a-1 calls all: 12.5 each."""
    posed = with_fixed(problem(chain(2, 4)), even(1))
    plans = connections([np.array([0, 1]), np.array([2, 3])], [np.array([0.8, 0.2]), np.array([0.5, 0.5])])
    got = realized(posed.pairs[0], plans, np.array([50.0, 50.0]))
    assert got == pytest.approx([52.5, 22.5, 12.5, 12.5])
    assert flow(posed, [plans])[0][1] == pytest.approx(got)


def test_what_weights_can_move_by_hand() -> None:
    """Loads 50, 30, 10, 10, of which a-1 brings 12.5 each: 37.5, 17.5, 0, 0 are left, 55 in all; a-0 sends 50 of it."""
    posed = with_fixed(problem(chain(2, 4)), even(1))
    load = Reference(np.array([50.0, 30.0, 10.0, 10.0]), 0.0, True, np.full(4, 12.5))
    traffic = movable(posed, 0, traffic_of(posed, 0, np.array([50.0, 50.0]), load), load)
    assert traffic.sent == pytest.approx([50.0, 0.0])
    assert traffic.target == pytest.approx([50.0, 30.0, 10.0, 10.0])
    assert traffic.fixed == pytest.approx(np.full(4, 12.5))
    assert traffic.still is not None
    assert traffic.still.tolist() == [False, True]
    assert left(traffic).target == pytest.approx([37.5 * 50 / 55, 17.5 * 50 / 55, 0.0, 0.0], abs=1e-3)


def test_where_targets_are_out_of_reach_the_others_rise_alike() -> None:
    """One caller of 50 reaches two of four containers with 12.5 fixed each and targets 14, 12, 37, 37. With what is
    left (1.5, 0) all its calls would go to the first one: 62.5. Both get 75 / 26 of their targets: 40.4 and 34.6."""
    one = connections([np.array([0, 1])])
    weights = weighed(one, np.array([50.0]), np.array([14.0, 12.0, 37.0, 37.0]), np.full(4, 12.5))
    loads = weights.received(np.array([50.0]), 4) + 12.5
    assert loads == pytest.approx([75 * 14 / 26, 75 * 12 / 26, 12.5, 12.5], rel=0.01)


def test_no_load_is_below_its_fixed_part() -> None:
    """Equal, flat curves share 100 alike, but 40 of the first one's cannot move: 20 each for the other three."""
    curves = Curves(np.array([1.0, 200.0]), np.zeros((4, 2)), np.full((4, 2), 0.1))
    balanced = balance(curves, 100.0, np.full(4, np.inf), 1.645, fixed=np.array([40.0, 0.0, 0.0, 0.0]))
    assert balanced.load == pytest.approx([40.0, 20.0, 20.0, 20.0], rel=1e-3)


def solved(posed: Problem, **settings: float) -> np.ndarray:
    """The realized loads of b."""
    curves = all_curves(posed, MODEL)
    return np.asarray(solve(posed, curves, MicronsSettings(**settings)).work[1])  # type: ignore[arg-type]


def test_who_follows_makes_up_for_who_does_not() -> None:
    """All to all. One of four callers calls all alike, 100 / 4 / 6 = 4.2 each; the others can still bring all loads
    that are above it to what they would be."""
    whole = replace(chain(), hosts=hosts(0.1, 0.2, 0.3, 0.4), quota=24)
    best = solved(problem(whole))
    assert best.min() > 4.2
    assert best.max() > 1.5 * best.min()
    assert solved(with_fixed(problem(whole), even(0))) == pytest.approx(best, rel=0.02)


def test_a_container_that_gets_more_than_its_part_without_them_gets_no_more_from_who_follows() -> None:
    """Half of the callers bring 100 / 2 / 6 = 8.33 to each; b-3 on the busiest host should have 2.5."""
    whole = replace(chain(), quota=24)
    assert solved(problem(whole))[3] == pytest.approx(2.5, abs=0.1)
    loads = solved(with_fixed(problem(whole), even(0, 1)))
    assert loads[3] == pytest.approx(100 / 12, rel=0.01)
    assert loads.sum() == pytest.approx(100)


@given(
    callers=st.integers(1, 6),
    room=st.floats(1.05, 3.0),
    fixed=st.sets(st.integers(0, 5)),
    drawn=st.integers(0, 2**32 - 1),
)
def test_capacities_hold_for_the_sum_where_they_can(callers: int, room: float, fixed: set[int], drawn: int) -> None:
    """For fixed flows that alone exceed none. Over all connections: with fewer, `notes` names who exceeds."""
    draws = np.random.default_rng(drawn)
    capacity = draws.uniform(0.2, 1.0, 5)
    capacity *= room * 100.0 / capacity.sum()
    flows: FixedFlows = {
        key(at): dict(zip([f"b-{n}" for n in range(5)], draws.dirichlet(np.ones(5)).tolist(), strict=True))
        for at in fixed
        if at < callers
    }
    below = Service("b", tuple(Container(f"b-{at}", f"h{at % 4}", capacity_per_s=c) for at, c in enumerate(capacity)))
    app = Application(hosts(0.1, 0.3, 0.5, 0.7), (service("a", callers), below), chain().roots, quota=callers * 5)
    posed = with_fixed(problem(app), flows)
    pair = posed.pairs[0]
    alone = np.zeros(5) if pair.fixed is None else pair.fixed.received(np.full(callers, 100.0 / callers), 5)
    assume((alone <= capacity).all())
    assert (solved(posed) <= capacity * 1.01 + 0.5).all(), "0.5: the least share of a connection, and CLOSE, of 100"


def settled(inputs: Inputs) -> tuple[SubsetState, float]:
    state, _ = plan(None, inputs, 0.0)
    now_s = 0.0
    assert state is not None
    while True:
        now_s += 60
        after, run = plan(state, inputs, now_s)
        assert after is not None
        if run is None:
            return after, now_s
        assert now_s < 7200
        state = after


def test_other_callers_cause_a_run_after_the_quiet_time() -> None:
    inputs = Inputs(chain(), MODEL)
    state, now_s = settled(inputs)
    partly = replace(inputs, fixed=even(0))
    assert plan(state, partly, state.at_s + 59)[1] is None
    after, run = plan(state, partly, now_s + 60)
    assert run is not None
    assert run.cause is Cause.ADOPTION
    assert after is not None
    assert after.fixed == even(0)
    assert plan(after, replace(inputs, fixed=even(0)), now_s + 119)[1] is None


def test_where_nobody_follows_the_subsets_stay() -> None:
    """Also while contention drifts."""
    inputs = Inputs(chain(), MODEL)
    state, now_s = settled(inputs)
    before = named_connections(state.solved.problem, state.solved.solution)
    nobody = even(*range(4))
    for cpu in ((0.1, 0.3, 0.5, 0.7), (0.7, 0.5, 0.3, 0.1), (0.4, 0.4, 0.9, 0.1)):
        app = replace(chain(), hosts=hosts(*cpu))
        for _ in range(5):
            now_s += 60
            after, _ = plan(state, replace(inputs, application=app, fixed=nobody), now_s)
            assert after is not None
            state = after
    assert named_connections(state.solved.problem, state.solved.solution) == before
    assert state.solved.work[1] == pytest.approx(np.full(6, 100 / 6))


def test_the_weights_of_who_does_not_follow_stay() -> None:
    inputs = Inputs(chain(), MODEL)
    state, now_s = settled(inputs)
    before = named_connections(state.solved.problem, state.solved.solution)["a", "b"]
    for _ in range(10):
        now_s += 60
        state = plan(state, replace(inputs, fixed=even(0)), now_s)[0] or state
    after = named_connections(state.solved.problem, state.solved.solution)["a", "b"]
    assert {ends: w for ends, w in after.items() if ends[0] == "a-0"} == {
        ends: w for ends, w in before.items() if ends[0] == "a-0"
    }
    assert after != before


def test_loads_begin_at_what_callers_bring_and_rise_by_a_quarter_at_most() -> None:
    """a-0 to a-2 are found to call all alike: loads are not what the weights aimed at."""
    inputs = Inputs(chain(), MODEL)
    state, now_s = settled(inputs)
    posed = with_fixed(state.solved.problem, even(0, 1, 2))
    brought = flow(posed, state.solved.solution.subsets)[0][1]
    after, run = plan(state, replace(inputs, fixed=even(0, 1, 2)), now_s + 60)
    assert run is not None
    assert after is not None
    aimed = np.array([after.loads["b"][f"b-{at}"] for at in range(6)]) * 100 / 6
    assert (aimed - brought <= 0.2501 * np.maximum(brought, 100 / 6)).all()
    assert after.realized["b"] == pytest.approx(
        {f"b-{at}": load * 6 / 100 for at, load in enumerate(after.solved.work[1])}
    )


def test_where_all_call_one_container_it_has_all_calls() -> None:
    posed = with_fixed(problem(replace(chain(), quota=24)), {key(at): {"b-0": 1.0} for at in range(4)})
    assert solved(posed) == pytest.approx([100.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_own_load_is_learnt_from_what_callers_bring() -> None:
    """Weights aimed at 10 calls/s more for b-0 and 10 less for b-1; callers brought 5 more, and 0.05 of CPU with them:
    0.01 a call."""
    state, _ = settled(Inputs(chain(4, 4), MODEL))
    names = [f"b-{at}" for at in range(4)]

    def loads(change: float) -> dict[str, dict[str, float]]:
        return {"b": dict(zip(names, [1 + change, 1 - change, 1.0, 1.0], strict=True))}

    partly = replace(state, owns={}, earlier=loads(0), loads=loads(0.4), realized_earlier=loads(0), realized=loads(0.2))
    after = replace(state.application, hosts=hosts(0.15, 0.25, 0.5, 0.7))
    assert own_loads(partly, after, state.at_s + 60)["b"].per_call[0] == pytest.approx(0.01)
    alone = replace(partly, realized={}, realized_earlier={})
    assert own_loads(alone, after, state.at_s + 60)["b"].per_call[0] == pytest.approx(0.005)
