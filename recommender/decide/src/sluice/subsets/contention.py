"""The contention that loads bring: learns own loads from runs, and curves that take them into account."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

import numpy as np

from sluice.subsets.application import Application, Host
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.own_load import FULL, NOTHING, Owns, observed, step_of, tilted
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


def busier_elsewhere(
    state: SubsetState, service: str, before: Mapping[str, float], now: Application, by: float
) -> bool:
    """Whether the host of a service that became busiest since the last run is one of a container whose load did not
    rise, and by `by` or more. Then weights did not make the service slower, and to take them back brings calls there.

    before: loads by container, relative to their mean, to compare the present ones with. Hosts are compared as queues
    of an M/M/1 kind: by 1 / (1 - utilization).
    """
    was, there = ({host.name: host for host in app.hosts} for app in (state.application, now))
    after = loads_now(state, service)
    rises = [
        (*_rise(was[container.host], there[container.host]), container.name)
        for of in now.services
        if of.name == service
        for container in of.containers
        if container.host in was and container.host in there
    ]
    if not rises:
        return False
    _, more, name = max(rises)
    return more >= by and after.get(name, 1.0) <= before.get(name, 1.0)


def _rise(was: Host, now: Host) -> tuple[float, float]:
    """By how much ln(1 / (1 - utilization)) of what became busiest rose, and the utilization itself."""
    kinds = (was.cpu, now.cpu), (was.memory_bandwidth, now.memory_bandwidth), (was.network, now.network)
    return max((log((1 - min(w, FULL)) / (1 - min(n, FULL))), n - w) for w, n in kinds)


def loads_now(state: SubsetState, service: str) -> Mapping[str, float]:
    """The loads that callers bring, relative to their mean."""
    return state.realized.get(service) or state.loads.get(service, {})


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
    level = loads_now(state, fleet.service)
    load = np.array([level.get(name, 1.0) * rate / len(fleet) for name in fleet.names])
    return tilted(curves, of_service, fleet.contention, load, own.per_call)
