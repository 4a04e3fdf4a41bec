"""Decides when to solve subsets again, and from what: `plan(state, inputs, now) -> (state', run)`. No other state is
kept.

- Containers that come, go or are drained, and pairs that come or go, cause a run at once. Services that this does not
  touch keep the contention and the loads of the last run, so their connections stay.
- Contention or load that drifted, and a new latency model, cause a run after the quiet time, within the churn budget.
  Containers that come and go at that moment are a part of this run, so that replacements without end do not delay it.
- Callers that begin or cease to follow their subsets cause one after the quiet time too. The calls of those that do not
  follow are fixed; the weights of the others take them into account (`fixed`).
- Loads that are a part of the way to the solution go on after the quiet time. They go back where the measured latency
  became worse (`easing`).
- Inputs that are not legal change nothing: the last good solution stays in force and names the problems
  (`SubsetState.problems`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sluice.subsets.application import Application, Service
from sluice.subsets.calls import rates
from sluice.subsets.churn import named_connections
from sluice.subsets.connections import flow
from sluice.subsets.contention import curves_under, own_load_known, own_loads
from sluice.subsets.damping import Damping
from sluice.subsets.drift import drift
from sluice.subsets.easing import at_start, back, going_on, judged, put_in_force, rebased, resting, waiting
from sluice.subsets.fixed import with_fixed
from sluice.subsets.fleet import Fleet
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.legal import IllegalSubsetsError, check
from sluice.subsets.microns.carry import solve_again, solved_on
from sluice.subsets.microns.settings import NumberRule
from sluice.subsets.microns.solve import Solved
from sluice.subsets.predict import all_curves
from sluice.subsets.problem import Problem, problem
from sluice.subsets.state import Cause, Inputs, SolverRun, SubsetState
from sluice.subsets.strategy import MICRONS, rival


def plan(state: SubsetState | None, inputs: Inputs, now_s: float) -> tuple[SubsetState | None, SolverRun | None]:
    """The next state and the run that led to it; no run where nothing changes. `now_s`: a clock that never goes back.

    Without a state, an application that is not legal leads to no state.

    Raises:
        IllegalError: the application is not legal, and there is no earlier solution.
    """
    application = inputs.application
    try:
        check(application)
        if state is None:
            step = at_start(inputs)
            posed = with_fixed(problem(application), inputs.fixed)
            first, run = put_in_force(_first(inputs, posed, step), step, None, inputs, Cause.START, now_s)
            return replace(_state(first, inputs, application, now_s), fixed=inputs.fixed), run
        state, bad = judged(state, inputs, now_s)
        cause = _cause(state, inputs, now_s)
        if not bad and cause not in (None, Cause.SCALING):
            state = rebased(state, inputs.fixed)
        if bad or cause not in (None, Cause.SCALING):
            state = replace(state, owns=own_loads(state, application, now_s))
        if bad and cause is not Cause.SCALING:
            cause, used, step = Cause.REVERT, _settled(state, inputs), back(state, bad)
        elif cause is not None:
            used = application if cause is not Cause.SCALING else _settled(state, inputs)
            step = going_on(state, inputs, cause, now_s)
        else:
            return (replace(state, problems=()) if state.problems else state), None
        solved = _again(state, inputs, used, cause, step)
    except IllegalSubsetsError as error:
        if state is None:
            raise
        return replace(state, problems=error.problems), None
    after, run = put_in_force(solved, step, state, inputs, cause, now_s)
    after = replace(after, fixed=state.fixed)
    run = replace(run, stale=drift(used, application, inputs.when))
    if cause is Cause.REVERT:
        after, run = resting(after, run, bad, inputs.measured)
    # A run for containers is necessary at any time, so it does not restart the quiet time.
    at_s = state.at_s if cause is Cause.SCALING else now_s
    return _state(after, inputs, used, at_s), run


def missing(application: Application, model: LatencyModel) -> tuple[str, ...]:
    """Missing inputs and what replaces them, as lines for people."""
    lines = [*model.notes]
    called = {down for _, down in rates(application)}
    for service in application.services:
        strange = [
            container.name for container in service.containers if not container.address and service.name in called
        ]
        if strange:
            lines.append(f"{service.name}: no address of {_some(strange)}: proxies cannot connect to them")
    if application.pairs:
        lines.append("no call trees of some pairs: the solver assumes that they are called one after the other")
    return tuple(lines)


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _state(state: SubsetState, inputs: Inputs, application: Application, at_s: float) -> SubsetState:
    lacking = (*inputs.missing, *missing(inputs.application, inputs.model))
    return replace(state, application=application, at_s=at_s, missing=lacking)


def _first(inputs: Inputs, problem: Problem, step: Damping) -> Solved:
    """The first solution of this process. It keeps the connections that another process put in force, except where a
    change is necessary."""
    curves = all_curves(problem, inputs.model)
    if inputs.strategy != MICRONS:
        return _by_rule(inputs, problem, curves)
    settings = replace(inputs.settings, churn_budget=0.0, number=_number(inputs, Cause.START))
    return solved_on(problem, curves, settings, inputs.previous, step)


def _number(inputs: Inputs, cause: Cause) -> NumberRule:
    """What a run does about the number of connections.

    It falls only by a new model: contention and load that come and go with the time of day would otherwise take
    connections away and bring them back each day. A step of weights leaves it, so that the trial shows the effect of
    weights alone. So does every run while some callers do not follow: connections are chosen as if all did.
    """
    if not inputs.model.known:
        return NumberRule.USUAL
    if cause is Cause.TRAINED and not inputs.fixed:
        return NumberRule.MOVE
    rises = cause in (Cause.DRIFT, Cause.ADOPTION) and not inputs.fixed
    return NumberRule.RISE if rises else NumberRule.KEEP


def _by_rule(inputs: Inputs, problem: Problem, curves: Sequence[Curves]) -> Solved:
    """A rival's solution. Rivals do not use earlier connections."""
    solution = rival(inputs.strategy)(problem)
    return Solved(problem, curves, (), solution, flow(problem, solution.subsets)[0])


def _cause(state: SubsetState, inputs: Inputs, now_s: float) -> Cause | None:
    was, now = state.application, inputs.application
    if now_s - state.at_s >= inputs.when.quiet_s:
        if state.model is not inputs.model:
            return Cause.TRAINED
        if any(drift(was, now, inputs.when)):
            return Cause.DRIFT
        if state.fixed is not inputs.fixed and state.fixed != inputs.fixed:
            return Cause.ADOPTION
        if state.unfinished - waiting(state, now_s):
            return Cause.WEIGHTS
    changed = (
        _who_calls_whom(was) != _who_calls_whom(now)
        or _rules(was) != _rules(now)
        or _containers(was) != _containers(now)
    )
    return Cause.SCALING if changed else None


def _who_calls_whom(application: Application) -> set[tuple[str, str]]:
    """The pairs. A change of their rates or trees counts as drift instead."""
    return set(rates(application))


def _rules(application: Application) -> tuple[object, ...]:
    return (
        application.quota,
        application.min_subset,
        application.percentile,
        application.keep_in_zone,
        application.prefer_zone,
    )


def _containers(application: Application) -> dict[str, Service]:
    return {
        service.name: Service(service.name, tuple(sorted(service.containers, key=lambda container: container.name)))
        for service in application.services
    }


def _settled(state: SubsetState, inputs: Inputs) -> Application:
    """The live containers and pairs, with the contention and the loads of the last run where it had them."""
    was, now = state.application, inputs.application
    hosts = {host.name: host for host in was.hosts}
    settled = replace(now, hosts=tuple(replace(hosts.get(host.name, host), zone=host.zone) for host in now.hosts))
    if _who_calls_whom(was) == _who_calls_whom(now):
        return replace(settled, roots=was.roots, pairs=was.pairs)
    roots = {root.name: root for root in was.roots}
    pairs = {(pair.upstream, pair.downstream): pair for pair in was.pairs}
    return replace(
        settled,
        roots=tuple(
            replace(root, rate_per_s=roots[root.name].rate_per_s if root.name in roots else root.rate_per_s)
            for root in now.roots
        ),
        pairs=tuple(pairs.get((pair.upstream, pair.downstream), pair) for pair in now.pairs),
    )


def _again(state: SubsetState, inputs: Inputs, application: Application, cause: Cause, step: Damping) -> Solved:
    """Solves again. Reuses fleets and curves that did not change."""
    known: Mapping[str, Fleet] = {}
    settings = replace(
        inputs.settings, quotas_follow=cause in (Cause.TRAINED, Cause.DRIFT), number=_number(inputs, cause)
    )
    if cause is Cause.REVERT:
        settings = replace(settings, churn_budget=0.0)
    # Where own load is known, a step of weights begins at the contention that the one before brought.
    if cause in (Cause.SCALING, Cause.REVERT) or (cause is Cause.WEIGHTS and not own_load_known(state)):
        same = _containers(state.application)
        now = _containers(application)
        known = {
            fleet.service: fleet
            for fleet in state.solved.problem.fleets
            if same.get(fleet.service) == now.get(fleet.service) and _same_hosts(state.application, application)
        }
    problem_ = with_fixed(problem(application, known), state.fixed)
    curves = _curves(state, inputs, problem_)
    if inputs.strategy != MICRONS:
        return _by_rule(inputs, problem_, curves)
    if not state.solved.references:
        return solved_on(
            problem_, curves, settings, named_connections(state.solved.problem, state.solved.solution), step
        )
    return solve_again(state.solved, problem_, curves, settings, state.best, step)


def _same_hosts(was: Application, now: Application) -> bool:
    """Whether both have the same zones. Zone numbers depend on all hosts, so other zones make other fleets."""
    return {host.zone for host in was.hosts} == {host.zone for host in now.hosts}


def _curves(state: SubsetState, inputs: Inputs, problem: Problem) -> list[Curves]:
    kept = (
        {id(fleet): curves for fleet, curves in zip(state.solved.problem.fleets, state.solved.curves, strict=True)}
        if state.model is inputs.model
        else {}
    )
    return [
        kept.get(id(fleet)) or curves_under(state, inputs.model, problem, number)
        for number, fleet in enumerate(problem.fleets)
    ]
