"""Quotas follow what was learnt, within the churn budget; with a budget of 1 a run solves anew."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.subsets.application import Application, Call, Container, Root, Service
from sluice.subsets.churn import NamedConnections, churn, named_connections
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.follow import stepped
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.solve import solve
from sluice.subsets.plan import plan
from sluice.subsets.predict import all_curves
from sluice.subsets.problem import problem
from sluice.subsets.state import Cause, Inputs, SubsetState
from sluice_kit.decide.applications import hosts

NOTHING = latency_model({}, [], 10.0)


class Uneven:
    """ln(latency) rises by `steep` for each 10 calls per second, and by `apart` for each 1.0 of CPU."""

    basis = "by the test"

    def __init__(self, steep: float, apart: float) -> None:
        self._steep, self._apart = steep, apart

    def curves(self, contention: np.ndarray) -> Curves:
        rate = np.linspace(0.0, 400.0, 41)
        mu = np.tile(self._steep * rate / 10, (len(contention), 1)) + self._apart * contention[:, :1]
        return Curves(rate, mu, np.full(mu.shape, 0.3))


#: Hosts matter to x, and not to y: connections to x gain more.
LEARNT = LatencyModel({"x": Uneven(0.5, 4.0), "y": Uneven(0.1, 0.0)}, Uneven(0.1, 0.0))


def app() -> Application:
    """a calls x and y; 12 containers of a, x and y each, on hosts from idle to busy; 80 connections."""
    services = tuple(
        Service(name, tuple(Container(f"{name}-{at:02}", f"h{at % 4}") for at in range(12))) for name in ("a", "x", "y")
    )
    tree = Call("a", ((Call("x"),), (Call("y"),)))
    return Application(hosts(0.0, 0.2, 0.4, 0.6), services, (Root("read", 240.0, tree),), quota=80)


def how(budget: float) -> MicronsSettings:
    """Without weights, which hide what connections miss."""
    return MicronsSettings(churn_budget=budget, weights=False)


def quotas(state: SubsetState) -> list[int]:
    return [len(subsets) for subsets in state.solved.solution.subsets]


def named(state: SubsetState) -> NamedConnections:
    return named_connections(state.solved.problem, state.solved.solution)


def trained(budget: float, runs: int) -> list[SubsetState]:
    """The states after a start on utilization alone, and after each of the runs for another model."""
    state, _ = plan(None, Inputs(app(), NOTHING, how(budget)), 0.0)
    assert state is not None
    states = [state]
    for number in range(1, runs + 1):
        model = LatencyModel(LEARNT.services, LEARNT.other)
        state, run = plan(state, Inputs(app(), model, how(budget)), 60.0 * number)
        assert state is not None
        assert run is not None
        assert run.cause is Cause.TRAINED
        states.append(state)
    return states


def test_quotas_follow_a_trained_model_within_the_budget_and_come_to_rest() -> None:
    """Solved anew, x has 56 of the 80. A tenth is 8 changes, which are 4 connections from y to x."""
    posed = problem(app())
    anew = solve(posed, all_curves(posed, LEARNT), how(0.1)).solution
    assert [len(subsets) for subsets in anew.subsets] == [56, 24]
    states = trained(0.1, 12)
    assert quotas(states[0]) == [40, 40], "utilization alone"
    for before, after in pairwise(states):
        assert churn(named(before), named(after)) <= 0.1
        assert 0 <= quotas(after)[0] - quotas(before)[0] <= 4
    assert quotas(states[-1]) == [56, 24]
    assert named(states[-1]) == named(states[-2])


@pytest.mark.parametrize("weights", [True, False])
def test_with_a_budget_of_1_a_run_solves_anew(weights: bool) -> None:
    settings = MicronsSettings(churn_budget=1.0, weights=weights)
    state, _ = plan(None, Inputs(app(), NOTHING, settings), 0.0)
    after, run = plan(state, Inputs(app(), LEARNT, settings), 60.0)
    assert after is not None
    assert run is not None
    assert run.cause is Cause.TRAINED
    solved = after.solved
    anew = solve(solved.problem, solved.curves, settings, lambda problem, best: list(solved.references)).solution
    assert named(after) == named_connections(solved.problem, anew), "of the loads that weights reach in this step"


def test_without_a_budget_quotas_stay() -> None:
    states = trained(0.0, 8)
    assert quotas(states[-1]) == [40, 40]
    assert churn(named(states[0]), named(states[-1])) == 0.0


@given(st.data())
def test_quotas_move_towards_the_wanted_ones_and_keep_their_sum(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 8))
    quota = np.array([data.draw(st.integers(1, 50)) for _ in range(count)])
    wanted = np.array(data.draw(st.permutations(quota.tolist())))
    budget = data.draw(st.integers(0, 100))
    after = stepped(quota, wanted, budget)
    assert after.sum() == quota.sum()
    assert np.abs(after - quota).sum() <= budget
    assert (np.abs(wanted - after) <= np.abs(wanted - quota)).all()
    assert stepped(quota, wanted, 10_000).tolist() == wanted.tolist()


def test_quotas_move_as_far_as_the_budget_counts_both_pairs() -> None:
    assert stepped(np.array([30, 30]), np.array([50, 10]), 12).tolist() == [36, 24]
