"""What holds of every application: nothing is lost, shares follow weights, order means nothing."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testbed.mesh.graph import flatten
from testbed.mesh.meshes import all_to_all, made
from testbed.mesh.run import MeshRun

SERVICES = "abcd"


def trees(depth):
    calls = st.sampled_from([0.5, 1.0, 2.0, 1.25])
    if depth == 0:
        return st.fixed_dictionaries({"service": st.sampled_from(SERVICES), "calls": calls})
    stages = st.lists(st.lists(trees(depth - 1), min_size=1, max_size=2), max_size=2)
    return st.fixed_dictionaries({"service": st.sampled_from(SERVICES), "calls": calls, "stages": stages})


@st.composite
def applications(draw):
    services = {name: draw(st.integers(1, 3)) for name in SERVICES}
    roots = {f"r{i}": (draw(st.sampled_from([1.0, 4.0])), draw(trees(2))) for i in range(draw(st.integers(1, 2)))}
    natures = {
        name: {"work_ms": draw(st.sampled_from([0.1, 1.0])), "cv": draw(st.sampled_from([0.0, 0.5, 2.0]))}
        for name in SERVICES
    }
    return made(services, roots, natures, hosts=draw(st.lists(st.floats(0, 0.6), min_size=1, max_size=3)))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(applications(), st.integers(1, 3), st.sampled_from(["round_robin", "least_request"]))
def test_every_request_is_answered(application, seed, routing):
    """Requests of 3 seconds, and then none until nobody computes any more."""
    solution = all_to_all(application, lambda i, j: 1.0 + (i + 2 * j) % 3)
    levels = np.array([1.0, 1.0, 1.0, 0.0])
    run = MeshRun(application, solution, seed, routing, levels)
    run.until(100.0)
    engine = run.engine
    assert not engine.rows()[:, 3].any()
    busy = engine.busy()
    run.until(110.0)
    assert np.array_equal(engine.busy(), busy)
    assert engine.tallies()["visits"].sum() == len(engine.rows()) + engine.pairs().sum()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.integers(1, 5))
def test_round_robin_is_within_two_calls_of_the_weights_for_each_caller(weights, callers):
    tree = {"service": "a", "stages": [[{"service": "b"}]]}
    application = made({"a": callers, "b": len(weights)}, {"r": (40.0, tree)}, {"a": {"work_ms": 0.1}})
    run = MeshRun(application, all_to_all(application, lambda i, j: weights[j]), 1)
    run.until(10.0)
    visits = run.engine.tallies()["visits"][callers:]
    assert np.abs(visits - np.array(weights) / sum(weights) * visits.sum()).max() <= 2.0 * callers


@settings(max_examples=25, deadline=None)
@given(applications())
def test_pairs_are_those_of_the_trees(application):
    graph = flatten(application)
    assert len(set(graph.pairs)) == len(graph.pairs) == len(graph.slots)
    for upstream in range(len(application.services)):
        slots = [slot for (up, _), slot in zip(graph.pairs, graph.slots, strict=True) if up == upstream]
        assert slots == list(range(len(slots)))
