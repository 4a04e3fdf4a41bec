"""Quotas follow what was learnt, within the churn budget; with a budget of 1 a run solves anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sluice.subsets.application import Application, Call, Container, Root, Service
from sluice.subsets.churn import churn, named_connections
from sluice.subsets.connections import flow
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.solve import solve
from sluice.subsets.plan import plan
from sluice.subsets.predict import all_curves, pair_latency
from sluice.subsets.problem import problem
from sluice.subsets.state import Cause, Inputs, SubsetState
from sluice.subsets.trees import end_to_end_latency
from sluice_kit.decide.applications import hosts

NOTHING = latency_model({}, [], 10.0)


class Steep:
    """ln(latency) rises by 1 for each 10 calls per second; so uneven loads cost much."""

    basis = "by the test"

    def __init__(self, slope: float) -> None:
        self._slope = slope

    def curves(self, contention: np.ndarray) -> Curves:
        rate = np.linspace(0.0, 400.0, 41)
        mu = np.tile(self._slope * rate / 10, (len(contention), 1)) + 4 * contention[:, :1]
        return Curves(rate, mu, np.full(mu.shape, 0.3))


#: x is steep, y flat: connections to x gain more.
LEARNT = LatencyModel({"x": Steep(1.0), "y": Steep(0.001)}, Steep(0.001))


def app() -> Application:
    """a calls x and y; 12 containers of a, x and y each, on hosts from idle to busy; 2.5 connections a container."""
    services = tuple(
        Service(name, tuple(Container(f"{name}-{at:02}", f"h{at % 4}") for at in range(12))) for name in ("a", "x", "y")
    )
    tree = Call("a", ((Call("x"),), (Call("y"),)))
    return Application(hosts(0.0, 0.2, 0.4, 0.6), services, (Root("read", 240.0, tree),), quota=60)


def settings(budget: float) -> MicronsSettings:
    return MicronsSettings(churn_budget=budget, weights=False)


def quotas(state: SubsetState) -> list[int]:
    return [len(subsets) for subsets in state.solved.solution.subsets]


def latency_ms(state: SubsetState) -> float:
    solved = state.solved
    work, got = flow(solved.problem, solved.solution.subsets)
    curves = all_curves(solved.problem, LEARNT)
    return end_to_end_latency(solved.problem.trees, pair_latency(solved.problem, curves, work, got)[0])


def started(budget: float) -> SubsetState:
    state, _ = plan(None, Inputs(app(), NOTHING, settings(budget)), 0.0)
    assert state is not None
    assert quotas(state) == [30, 30], "utilization alone"
    return state


def test_quotas_follow_a_trained_model_within_the_budget() -> None:
    state = started(0.1)
    before = named_connections(state.solved.problem, state.solved.solution)
    first_ms = latency_ms(state)
    after, run = plan(state, Inputs(app(), LEARNT, settings(0.1)), 60.0)
    assert after is not None and run is not None
    assert run.cause is Cause.TRAINED
    x, y = quotas(after)
    assert x > 30 > y
    assert x + y == 60
    assert churn(before, named_connections(after.solved.problem, after.solved.solution)) <= 0.1
    assert latency_ms(after) < first_ms


def test_they_come_to_rest_where_a_new_solution_has_them() -> None:
    state: SubsetState | None = started(0.1)
    posed = problem(app())
    anew = solve(posed, all_curves(posed, LEARNT), settings(0.1)).solution
    for step in range(1, 30):
        now = replace(app(), hosts=hosts(0.0, 0.2, 0.4, 0.6 + 0.11 * (step % 2)))
        state, _ = plan(state, Inputs(now, LEARNT, settings(0.1)), 60.0 * step)
    assert state is not None
    assert quotas(state)[0] == pytest.approx(len(anew.subsets[0]), abs=3)


@pytest.mark.parametrize("weights", [True, False])
def test_a_budget_of_1_solves_anew(weights: bool) -> None:
    how = MicronsSettings(churn_budget=1.0, weights=weights)
    state, _ = plan(None, Inputs(app(), NOTHING, how), 0.0)
    after, run = plan(state, Inputs(app(), LEARNT, how), 60.0)
    assert after is not None and run is not None
    assert run.cause is Cause.TRAINED
    posed = problem(app())
    anew = solve(posed, all_curves(posed, LEARNT), how)
    if not weights:
        assert named_connections(after.solved.problem, after.solved.solution) == named_connections(
            posed, anew.solution
        )
    assert after.solved.solution.iterations >= 1
    assert quotas(after) == [len(subsets) for subsets in anew.solution.subsets]


def test_without_a_budget_quotas_stay() -> None:
    after, run = plan(started(0.0), Inputs(app(), LEARNT, settings(0.0)), 60.0)
    assert after is not None and run is not None
    assert quotas(after) == [30, 30]
    assert run.churn == 0.0
