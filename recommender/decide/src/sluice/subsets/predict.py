"""Predicts the latency of pairs and roots under a solution: w to L of ConnectionOrchestration, and E2E, of Microns,
Algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sluice.subsets.connections import Connections, flow
from sluice.subsets.fleet import Floats
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.mixture import percentiles
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.problem import Problem
from sluice.subsets.solution import Predicted
from sluice.subsets.trees import end_to_end, end_to_end_latency


def all_curves(problem: Problem, model: LatencyModel) -> list[Curves]:
    """The latency curves of each service's containers."""
    return [model.of(fleet.service).curves(fleet.contention) for fleet in problem.fleets]


def pair_latency(
    problem: Problem, curves: Sequence[Curves], work: Sequence[Floats], got: Sequence[Floats]
) -> tuple[Floats, bool]:
    """Latency of pairs in ms at the problem's percentile, (E,), and whether all percentiles converged.

    A container's latency is the latency under all of its load, from whichever pairs. A pair's latency is the mixture
    over its downstream containers, weighted by what it sends to each. `work`, `got`: as of `flow`.
    """
    latencies = [curve.at(load) for curve, load in zip(curves, work, strict=True)]
    below = [pair.downstream for pair in problem.pairs]
    start = np.concatenate([[0], np.cumsum([len(rates) for rates in got])]).astype(np.int64)
    ln_ms, converged = percentiles(
        np.concatenate([latencies[service][0] for service in below]),
        np.concatenate([latencies[service][1] for service in below]),
        np.concatenate(got),
        start,
        problem.percentile,
    )
    return np.exp(ln_ms), converged


def predict(problem: Problem, curves: Sequence[Curves], subsets: Sequence[Connections]) -> Predicted:
    """The latency that `subsets` are expected to give."""
    work, got = flow(problem, subsets)
    latency, converged = pair_latency(problem, curves, work, got)
    roots = dict(zip(problem.trees.names, end_to_end(problem.trees, latency).tolist(), strict=True))
    return Predicted(tuple(latency.tolist()), roots, end_to_end_latency(problem.trees, latency), converged)
