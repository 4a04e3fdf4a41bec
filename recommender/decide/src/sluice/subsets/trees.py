"""All call trees as arrays, and the latency of a root from the latencies of pairs (Microns, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sluice.fast.compiled import compiled
from sluice.subsets.application import Application, Call
from sluice.subsets.fleet import Floats, Ints


@dataclass(frozen=True, eq=False)
class Trees:
    """n calls and s stages. A caller comes before its callees; the stages of a call are adjacent.

    pair: (n,) the number of the call's pair, -1 at a root. often: (n,) the part of the parent's calls that make this
    call, at most 1. stage: (n,) the stage that the call is in, -1 at a root. owner: (s,) the call that a stage belongs
    to. stages: (n, 2) the call's own stages, from and to. roots: (r,) the calls that are roots. weights: (r,) their
    parts of all requests.
    """

    names: tuple[str, ...]
    pair: Ints
    often: Floats
    stage: Ints
    owner: Ints
    stages: Ints
    roots: Ints
    weights: Floats


def trees(application: Application, pairs: Mapping[tuple[str, str], int]) -> Trees:
    """`pairs`: the numbers of pairs. Roots are ordered by name, the parallel calls of a stage by service."""
    roots = sorted(application.roots, key=lambda root: root.name)
    pair: list[int] = []
    often: list[float] = []
    stage: list[int] = []
    owner: list[int] = []
    stages: list[tuple[int, int]] = []
    first: list[int] = []

    def add(call: Call, above: str, of: int) -> None:
        node = len(pair)
        pair.append(pairs[above, call.service] if of >= 0 else -1)
        often.append(min(call.calls, 1.0) if of >= 0 else 1.0)
        stage.append(of)
        begin = len(owner)
        stages.append((begin, begin + len(call.stages)))
        owner.extend([node] * len(call.stages))
        for number, parallel in enumerate(call.stages, start=begin):
            for callee in sorted(parallel, key=_order):
                add(callee, call.service, number)

    for root in roots:
        first.append(len(pair))
        add(root.tree, "", -1)
    names = [root.name for root in roots]
    rates = [root.rate_per_s for root in roots]
    if application.pairs:
        first.append(len(pair))
        names.append("pairs")
        rates.append(max(pair_rate.rate_per_s for pair_rate in application.pairs))
        _add_pairs(application, pairs, (pair, often, stage, owner, stages))
    return Trees(
        tuple(names),
        np.array(pair, dtype=np.int64),
        np.array(often),
        np.array(stage, dtype=np.int64),
        np.array(owner, dtype=np.int64),
        np.array(stages, dtype=np.int64).reshape(-1, 2),
        np.array(first, dtype=np.int64),
        np.array(rates) / sum(rates),
    )


def _add_pairs(
    application: Application,
    pairs: Mapping[tuple[str, str], int],
    to: tuple[list[int], list[float], list[int], list[int], list[tuple[int, int]]],
) -> None:
    """Adds a root that calls one pair after the other. Without a tree nothing is known to be parallel."""
    pair, often, stage, owner, stages = to
    node, begin = len(pair), len(owner)
    named = sorted({(pair_rate.upstream, pair_rate.downstream) for pair_rate in application.pairs})
    pair.append(-1)
    often.append(1.0)
    stage.append(-1)
    stages.append((begin, begin + len(named)))
    owner.extend([node] * len(named))
    for number, key in enumerate(named, start=begin):
        pair.append(pairs[key])
        often.append(1.0)
        stage.append(number)
        stages.append((len(owner), len(owner)))


def _order(call: Call) -> tuple[str, float]:
    return call.service, call.calls


@compiled
def _merge(pair: Ints, often: Floats, stage: Ints, owner: Ints, stages: Ints, latency: Floats) -> tuple[Floats, Floats]:
    total, longest = np.zeros(len(pair)), np.zeros(len(owner))
    for node in range(len(pair) - 1, -1, -1):
        own = latency[pair[node]] if pair[node] >= 0 else 0.0
        for child in range(stages[node, 0], stages[node, 1]):
            own += longest[child]
        total[node] = own * often[node]
        if stage[node] >= 0 and total[node] > longest[stage[node]]:
            longest[stage[node]] = total[node]
    return total, longest


@compiled
def _parts(
    pair: Ints,
    often: Floats,
    stage: Ints,
    owner: Ints,
    roots: Ints,
    weights: Floats,
    merged: tuple[Floats, Floats],
    pairs: int,
) -> Floats:
    total, longest = merged
    part, pair_parts = np.zeros(len(pair)), np.zeros(pairs)
    for number in range(len(roots)):
        part[roots[number]] = weights[number]
    for node in range(len(pair)):
        if stage[node] < 0:
            continue
        most = longest[stage[node]]
        part[node] = part[owner[stage[node]]] * often[node] * (total[node] / most if most > 0 else 1.0)
        pair_parts[pair[node]] += part[node]
    return pair_parts


def end_to_end(trees: Trees, latency_ms: Floats) -> Floats:
    """Latency of each root in ms, (r,), from the latencies of pairs, (E,).

    Serial calls add up; of parallel calls the longest counts. A call that only a part of requests make counts for that
    part.
    """
    total, _ = _merge(trees.pair, trees.often, trees.stage, trees.owner, trees.stages, latency_ms)
    return np.asarray(total[trees.roots])


def parts(trees: Trees, latency_ms: Floats) -> Floats:
    """How much of a pair's gradient reaches the workload-weighted latency of all roots, (E,).

    Algorithm 2, line 19, on each path down from a root: within parallel subgraphs, the gradient of one with latency l
    is scaled by l over the longest latency. A pair in several places, or under several roots, gets the sum. Worked: 2
    roots of equal rates with a serial call each give 0.5 + 0.5.
    """
    merged = _merge(trees.pair, trees.often, trees.stage, trees.owner, trees.stages, latency_ms)
    arrays = trees.pair, trees.often, trees.stage, trees.owner, trees.roots, trees.weights
    return np.asarray(_parts(*arrays, merged, len(latency_ms)))


def end_to_end_latency(trees: Trees, latency_ms: Floats) -> float:
    """The workload-weighted mean over roots of their latencies in ms. The solver minimizes it."""
    return float(end_to_end(trees, latency_ms) @ trees.weights)
