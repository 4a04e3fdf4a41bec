"""The contention that loads bring: learns own loads from runs, and curves that take them into account."""

from __future__ import annotations

import numpy as np

from sluice.subsets.application import Application
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.own_load import NOTHING, Owns, observed, step_of, tilted
from sluice.subsets.problem import Problem
from sluice.subsets.state import SubsetState

#: Contention is the mean of this long.
MINUTE_S = 60.0


def own_loads(state: SubsetState, now: Application, now_s: float) -> Owns:
    """What is known of own loads, with what the last run did, where the newest minute shows it. While callers adopt a
    run, contention is still that of before: for some seconds of the minute, and k is too low by that part."""
    if now_s - state.at_s < MINUTE_S:
        return state.owns
    owns, problem = dict(state.owns), state.solved.problem
    loads = {**state.earlier, **state.realized_earlier}, {**state.loads, **state.realized}
    for fleet, rate in zip(problem.fleets, problem.rate_per_s.tolist(), strict=True):
        step = step_of(fleet, state.application, now, loads, rate)
        if step is not None:
            owns[fleet.service] = observed(owns.get(fleet.service, NOTHING), *step)
    return owns


def own_load_known(state: SubsetState) -> bool:
    return any(own.per_call.any() for own in state.owns.values())


def curves_under(state: SubsetState, model: LatencyModel, problem: Problem, number: int) -> Curves:
    """The curves of a service's containers, by its number. Contention was measured under the loads of the last run."""
    fleet, rate = problem.fleets[number], float(problem.rate_per_s[number])
    of_service = model.of(fleet.service)
    curves = of_service.curves(fleet.contention)
    own = state.owns.get(fleet.service, NOTHING)
    if not own.per_call.any():
        return curves
    level = state.realized.get(fleet.service) or state.loads.get(fleet.service, {})
    load = np.array([level.get(name, 1.0) * rate / len(fleet) for name in fleet.names])
    return tilted(curves, of_service, fleet.contention, load, own.per_call)
