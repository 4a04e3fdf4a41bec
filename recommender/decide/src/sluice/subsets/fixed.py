"""Callers that do not follow their subsets: their calls are fixed, and load the containers that they call now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sluice.model.keys import SubsetKey
from sluice.subsets.connections import Connections, connections
from sluice.subsets.problem import FleetPair, Problem

FixedFlows = Mapping[SubsetKey, Mapping[str, float] | None]
"""By caller, the shares of its calls by downstream container; None: even ones over all containers."""


def with_fixed(problem: Problem, fixed: FixedFlows) -> Problem:
    """The problem with the fixed flows of its live callers, in place of any others. The same object where it has none
    before and after."""
    pairs = tuple(_pair(problem, pair, fixed) for pair in problem.pairs)
    same = all(now is was for now, was in zip(pairs, problem.pairs, strict=True))
    return problem if same else replace(problem, pairs=pairs)


def _pair(problem: Problem, pair: FleetPair, fixed: FixedFlows) -> FleetPair:
    above, below = problem.fleets[pair.upstream], problem.fleets[pair.downstream]
    keys = [SubsetKey(above.service, name, below.service) for name in above.names]
    if not any(key in fixed for key in keys):
        return pair if pair.fixed is None else replace(pair, fixed=None)
    ends, shares = [], []
    for key in keys:
        share = np.zeros(len(below))
        if key in fixed:
            by_name = fixed[key]
            share[:] = 1.0 if by_name is None else [by_name.get(name, 0.0) for name in below.names]
            if share.sum() <= 0:
                share[:] = 1.0
            share /= share.sum()
        ends.append(np.flatnonzero(share))
        shares.append(share[share > 0])
    return replace(pair, fixed=connections(ends, shares))


def same_flows(was: Problem, now: Problem, service: str) -> bool:
    """Whether the fixed flows to a service are the same in both problems."""
    first, second = (_flows_to(problem, service) for problem in (was, now))
    return first.keys() == second.keys() and all(_equal(first[name], second[name]) for name in first)


def _flows_to(problem: Problem, service: str) -> dict[str, Connections]:
    return {
        problem.fleets[pair.upstream].service: pair.fixed
        for pair in problem.partly
        if pair.fixed is not None and problem.fleets[pair.downstream].service == service
    }


def _equal(one: Connections, other: Connections) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("start", "to", "share"))
