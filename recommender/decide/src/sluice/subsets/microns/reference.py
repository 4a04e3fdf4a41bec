"""The loads that connections aim at: the load of each container if the number of connections had no limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sluice.subsets.fleet import NO_ZONE, Floats
from sluice.subsets.latency.curves import Curves
from sluice.subsets.microns.balance import Balance, balance
from sluice.subsets.problem import Problem


@dataclass(frozen=True, eq=False)
class Reference:
    """load: (n,) calls per second of each of a service's containers. apart: as of Balance, the largest of its zones.
    fits: whether its capacities suffice for its calls. fixed: (n,) the part of the load from callers that do not follow
    their subsets; None where all follow."""

    load: Floats
    apart: float
    fits: bool
    fixed: Floats | None = None


@dataclass(frozen=True, eq=False)
class Optimum:
    """The loads that the connections of a problem aim at, and the curves that tell their latency. curves, loads: of
    each service's containers."""

    problem: Problem
    curves: Sequence[Curves]
    loads: Sequence[Reference]


def references(
    problem: Problem, curves: Sequence[Curves], known: Sequence[Reference | None], beta: float
) -> list[Reference]:
    """The reference of each service; from `known` where nothing of it changed. Calls from outside are spread evenly, as
    in `flow`."""
    from scipy.special import ndtri

    z, rate = float(ndtri(problem.percentile)), problem.rate_per_s
    loads: list[Reference] = [None] * len(problem.fleets)  # type: ignore[list-item]
    for service in _callers_first(problem):
        kept = known[service]
        loads[service] = kept if kept is not None else _reference(problem, curves, loads, rate, (z, beta), service)
    return loads


def target_of(problem: Problem, number: int, load: Reference) -> Floats:
    """The part of the optimal downstream loads that one pair brings, (D,) calls per second. All pairs bring the same
    mixture."""
    pair = problem.pairs[number]
    below = problem.fleets[pair.downstream]
    wanted = np.maximum(load.load - problem.outside[pair.downstream] / len(below), 1e-6 * load.load.mean())
    return np.asarray(wanted * (pair.rate_per_s / wanted.sum()))


def back(problem: Problem, loads: Sequence[Reference]) -> dict[int, Floats]:
    """What pairs that are cut out of a cycle should bring, (D,) calls per second."""
    return {number: target_of(problem, number, loads[problem.pairs[number].downstream]) for number in problem.cut}


def _callers_first(problem: Problem) -> list[int]:
    below = [problem.pairs[number].downstream for number in problem.order if number not in problem.cut]
    last = {service: at for at, service in enumerate(below)}
    return sorted(range(len(problem.fleets)), key=lambda service: last.get(service, -1))


def _reference(
    problem: Problem,
    curves: Sequence[Curves],
    loads: Sequence[Reference | None],
    rate: Floats,
    how: tuple[float, float],
    service: int,
) -> Reference:
    fleet = problem.fleets[service]
    outside = problem.outside[service]
    if outside >= rate[service]:
        return Reference(np.full(len(fleet), outside / len(fleet)), 0.0, True)
    groups = _zones(problem, loads, rate, service)
    fixed = _fixed(problem, loads, rate, service)
    if groups is None:
        balanced = balance(curves[service], float(rate[service]), fleet.capacity_per_s, *how, fixed)
        return Reference(balanced.load, balanced.apart, balanced.fits, fixed)
    load = np.zeros(len(fleet))
    balances: list[Balance] = []
    for members, total in groups:
        curve = curves[service]
        part = replace(curve, mu=curve.mu[members], sigma=curve.sigma[members])
        there = None if fixed is None else fixed[members]
        balances.append(balance(part, total, fleet.capacity_per_s[members], *how, there))
        load[members] = balances[-1].load
    apart, fits = max(one.apart for one in balances), all(one.fits for one in balances)
    return Reference(load, apart, fits, fixed)


def _fixed(problem: Problem, loads: Sequence[Reference | None], rate: Floats, service: int) -> Floats | None:
    """Calls per second to each container from callers that do not follow their subsets, and, where there are any, from
    outside, (n,)."""
    pairs = [pair for pair in problem.pairs if pair.downstream == service and pair.fixed is not None]
    if not pairs:
        return None
    count = len(problem.fleets[service])
    total = np.full(count, problem.outside[service] / count)
    for pair in pairs:
        above = loads[pair.upstream] or _even(problem, rate, pair.upstream)
        if pair.fixed is not None:
            total += pair.fixed.received(above.load * (pair.rate_per_s / rate[pair.upstream]), count)
    return total


def _even(problem: Problem, rate: Floats, service: int) -> Reference:
    """The reference of a caller in a cycle that is not solved yet."""
    count = len(problem.fleets[service])
    return Reference(np.full(count, rate[service] / count), 0.0, True)


def _zones(
    problem: Problem, loads: Sequence[Reference | None], rate: Floats, service: int
) -> list[tuple[NDArray[np.intp], float]] | None:
    """The containers of each zone with the calls per second that come to it; None where zones limit no pair."""
    pairs = [pair for pair in problem.pairs if pair.downstream == service]
    if all((pair.zone == NO_ZONE).all() for pair in pairs):
        return None
    fleet = problem.fleets[service]
    free, kept = float(problem.outside[service]), dict.fromkeys(np.unique(fleet.zone).tolist(), 0.0)
    for pair in pairs:
        above = loads[pair.upstream] or _even(problem, rate, pair.upstream)
        sent = above.load * (pair.rate_per_s / rate[pair.upstream])
        free += float(sent[pair.zone == NO_ZONE].sum())
        for zone in kept:
            if zone != NO_ZONE:
                kept[zone] += float(sent[pair.zone == zone].sum())
    groups = [(np.flatnonzero(fleet.zone == zone), total) for zone, total in kept.items()]
    return [(members, total + free * len(members) / len(fleet)) for members, total in groups]
