"""Puts a solution in force: connections at once, loads in steps, with a trial of each step before the next."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from sluice.subsets.churn import NamedConnections, changed, churn, named_connections
from sluice.subsets.connections import Downwards, flow, realized
from sluice.subsets.contention import busier_elsewhere
from sluice.subsets.damping import Damping, Loads, relative
from sluice.subsets.fixed import FixedFlows, same_flows, with_fixed
from sluice.subsets.microns.previous import kept_by_name
from sluice.subsets.microns.solve import Solved
from sluice.subsets.pace import WeightPace, released, rests, taken_back
from sluice.subsets.problem import Problem
from sluice.subsets.state import Cause, Inputs, SolverRun, SubsetState
from sluice.subsets.trial import LoadTrial, MeasuredLatency, begun, best_of, ended, worse

V = TypeVar("V")


def at_start(inputs: Inputs) -> Damping:
    """Keeps the loads that another process put in force. Without any, all loads are even."""
    previous = inputs.previous
    if previous:
        return Damping(None, still=None, first_loads=lambda problem: loads_of(problem, previous))
    return Damping({})


def going_on(state: SubsetState, inputs: Inputs, cause: Cause, now_s: float) -> Damping:
    """Services whose loads are on trial, or rest after they were undone, keep their loads. All services do where
    containers came or went."""
    still = None if cause is Cause.SCALING else waiting(state, now_s)
    per_call = {service: float(own.per_call.max()) for service, own in state.owns.items()}
    at_most = {service: float(own.at_most.max()) for service, own in state.owns.items()}
    return Damping(state.loads, state.earlier, state.paces, still, inputs.settings.churn_budget, per_call, at_most)


def back(state: SubsetState, bad: Mapping[str, LoadTrial]) -> Damping:
    """The loads before a change, for the services that it made worse."""
    return Damping({**state.loads, **{service: trial.loads for service, trial in bad.items()}}, {}, state.paces, None)


def waiting(state: SubsetState, now_s: float) -> set[str]:
    return {service for service, pace in state.paces.items() if rests(pace, now_s)} | state.trials.keys()


def put_in_force(
    solved: Solved, step: Damping, state: SubsetState | None, inputs: Inputs, cause: Cause, now_s: float
) -> tuple[SubsetState, SolverRun]:
    """The next state and its run. Without `state` it is the first of a process."""
    previous: NamedConnections = (
        (inputs.previous or {}) if state is None else named_connections(state.solved.problem, state.solved.solution)
    )
    after = named_connections(solved.problem, solved.solution)
    moved = changed(previous, after) if previous else {}
    trials, anchors = ({}, {}) if state is None else (dict(state.trials), dict(state.anchors))
    # Measurements with other containers are not comparable.
    replaced = _replaced(state, solved.problem) | ({down for _, down in moved} if cause is Cause.SCALING else set())
    for service in replaced:
        trials.pop(service, None)
        anchors.pop(service, None)
    loads = relative(solved.problem, [reference.load for reference in solved.references]) if solved.references else {}
    was = step.now or {}
    for service in sorted(step.changed):
        if (measured := inputs.measured.get(service)) is not None:
            trials[service] = begun(anchors.get(service), measured, was.get(service, {}), now_s)
    paces = {name: replace(pace, reverted="") if name in step.changed else pace for name, pace in step.paces.items()}
    run = SolverRun(cause, now_s, churn(previous, after), moved, step.moved)
    next_one = SubsetState(
        solved,
        inputs.application,
        inputs.model,
        now_s,
        loads=loads,
        earlier=was,
        paces=paces,
        trials=trials,
        unfinished=step.unfinished,
        anchors=anchors,
        best=step.best,
        owns={} if state is None else state.owns,
        realized=_realized(solved),
        realized_earlier={} if state is None else _realized_before(state, solved),
        taken_back={} if state is None else _without(state.taken_back, replaced),
    )
    return next_one, run


def _realized(solved: Solved) -> Loads:
    """The loads that callers bring. Few connections, and callers that do not follow, miss what weights aim at."""
    return relative(solved.problem, list(solved.work)) if solved.references else {}


def _realized_before(state: SubsetState, solved: Solved) -> Loads:
    """The same under the solution before."""
    before = {**state.loads, **state.realized}
    return {name: before[name] for name in {*_realized(solved), *state.realized} if name in before}


def rebased(state: SubsetState, fixed: FixedFlows) -> SubsetState:
    """The state as it would be had its solution been made for these fixed flows.

    The present loads of services to which the flows differ are what callers bring, not what weights aim at. What
    was measured there belongs to loads that nobody knew: trials and best measurements end, and the last run shows
    nothing of own load.
    """
    was = state.solved.problem
    problem = with_fixed(was, fixed)
    others = {fleet.service for fleet in was.fleets if not same_flows(was, problem, fleet.service)}
    if not others:
        return replace(state, fixed=fixed)
    now = relative(problem, flow(problem, state.solved.solution.subsets)[0])
    there = {name: load for name, load in now.items() if name in others}
    return replace(
        state,
        fixed=fixed,
        loads={**state.loads, **there},
        earlier={**state.earlier, **there},
        realized=_without(state.realized, others),
        realized_earlier=_without(state.realized_earlier, others),
        trials=_without(state.trials, others),
        anchors=_without(state.anchors, others),
        taken_back=_without(state.taken_back, others),
    )


def _without(of: Mapping[str, V], names: Collection[str]) -> dict[str, V]:
    return {name: value for name, value in of.items() if name not in names}


def _replaced(state: SubsetState | None, problem: Problem) -> set[str]:
    """The services with other containers than in the run before."""
    names = {} if state is None else {fleet.service: fleet.names for fleet in state.solved.problem.fleets}
    return {fleet.service for fleet in problem.fleets if names.get(fleet.service, fleet.names) != fleet.names}


def judged(state: SubsetState, inputs: Inputs, now_s: float) -> tuple[SubsetState, dict[str, LoadTrial]]:
    """The state without the trials that ended, and those of them that made their service worse. The same state where
    none ended. A trial shows nothing where hosts became busier by themselves (`busier_elsewhere`)."""
    measured = inputs.measured
    state = _absolved(state, measured, now_s)
    over = {name for name, trial in state.trials.items() if ended(trial, measured.get(name), now_s)}
    if not over:
        return state, {}
    bad = {
        name: state.trials[name]
        for name in sorted(over)
        if worse(state.trials[name], measured.get(name))
        and not busier_elsewhere(state, name, state.trials[name].loads, inputs.application, inputs.when.drift)
    }
    anchors = {name: anchor for name, anchor in state.anchors.items() if name not in over}
    for name in over:
        best = best_of(state.trials[name], measured.get(name), state.loads.get(name, {}), now_s)
        if best is not None:
            anchors[name] = best
    left = {name: trial for name, trial in state.trials.items() if name not in over}
    return replace(state, trials=left, anchors=anchors), bad


def _absolved(state: SubsetState, measured: Mapping[str, MeasuredLatency], now_s: float) -> SubsetState:
    """Ends the rest of services that are as slow with their weights taken back: the weights were not the cause."""
    over = {name: undone for name, undone in state.taken_back.items() if ended(undone, measured.get(name), now_s)}
    if not over:
        return state
    paces = {
        name: released(state.paces[name], now_s)
        for name, undone in over.items()
        if name in state.paces and worse(undone, measured.get(name))
    }
    return replace(state, taken_back=_without(state.taken_back, over), paces={**state.paces, **paces})


def resting(
    state: SubsetState, run: SolverRun, bad: Mapping[str, LoadTrial], measured: Mapping[str, MeasuredLatency]
) -> tuple[SubsetState, SolverRun]:
    """Puts the services whose loads the run undid at rest, with the reason."""
    why = {
        name: f"the p95 of {name} went from {trial.baseline.p95_ms:.3g} to {measured[name].p95_ms:.3g} ms after weights"
        " changed: the weights go back"
        for name, trial in bad.items()
    }
    paces = {name: taken_back(state.paces.get(name, WeightPace()), run.at_s, text) for name, text in why.items()}
    undone = {name: LoadTrial(run.at_s, trial.baseline, trial.loads) for name, trial in bad.items()}
    state = replace(state, paces={**state.paces, **paces}, taken_back={**state.taken_back, **undone})
    return state, replace(run, notes=tuple(why.values()))


def loads_of(problem: Problem, previous: NamedConnections) -> Loads:
    """The loads of connections that another process put in force; even loads for pairs without any."""
    kept = kept_by_name(problem, previous)
    down = Downwards(problem)
    for number, pair, sent in down:
        eased = kept[number]
        even = np.full(pair.containers, sent.sum() / pair.containers)
        down.brings(number, even if eased is None else realized(pair, eased.connections, sent))
    return relative(problem, down.work)
