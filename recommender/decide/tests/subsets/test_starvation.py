"""Containers that are replaced without end: drift of contention and load is followed all the same."""

from __future__ import annotations

from dataclasses import replace

from sluice.subsets.application import Application, Call, Root
from sluice.subsets.latency.training import latency_model
from sluice.subsets.plan import plan
from sluice.subsets.state import Cause, Inputs, SolverRun, SubsetState
from sluice_kit.decide.applications import chain, hosts, service

MODEL = latency_model({}, [], 10.0)
CALM, REVERSED = hosts(0.1, 0.3, 0.5, 0.7), hosts(0.7, 0.5, 0.3, 0.1)


def app(replaced: int, rate_per_s: float = 100.0) -> Application:
    """a -> b with 20 containers each; the first `replaced` of b have other names."""
    b = service("b", 20)
    names = tuple(
        replace(container, name=f"{container.name}-{replaced}") if at < replaced % 20 else container
        for at, container in enumerate(b.containers)
    )
    root = Root("read", rate_per_s, Call("a", ((Call("b"),),)))
    return replace(chain(), hosts=CALM, services=(service("a", 20), replace(b, containers=names)), roots=(root,))


def replaced_each_10_s(minutes: int) -> tuple[SubsetState, list[SolverRun]]:
    """Contention is reversed and the load tripled from second 10 on."""
    state, first = plan(None, Inputs(app(0), MODEL), 0.0)
    assert first is not None
    runs = []
    for step in range(1, 6 * minutes + 1):
        now = replace(app(step, 300.0), hosts=REVERSED)
        state, run = plan(state, Inputs(now, MODEL), 10.0 * step)
        if run is not None:
            runs.append(run)
    assert state is not None
    return state, runs


def test_a_pod_replaced_each_10_s_for_15_minutes_does_not_starve_drift() -> None:
    state, runs = replaced_each_10_s(15)
    drift = [run.at_s for run in runs if run.cause is Cause.DRIFT]
    assert drift[0] == 60.0, "after the quiet time, as without any replacement"
    assert {host.name: host.cpu for host in state.application.hosts} == {host.name: host.cpu for host in REVERSED}
    assert state.application.roots[0].rate_per_s == 300.0
    assert len(runs) == 90, "each replacement is followed at once"
    assert all(run.cause is Cause.SCALING for run in runs[:5])


def test_what_scaling_leaves_stale_is_counted() -> None:
    """Four hosts moved by 0.6, 0.2, 0.2 and 0.6, and one pair by 200 %; of these all are above the triggers."""
    _, runs = replaced_each_10_s(1)
    assert [run.stale for run in runs] == [(4, 1)] * 5 + [(0, 0)]
