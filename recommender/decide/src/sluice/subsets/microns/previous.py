"""The connections in force, pair by pair, in the numbers of a new problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.subsets.churn import NamedConnections
from sluice.subsets.connections import Connections
from sluice.subsets.fleet import Ints
from sluice.subsets.problem import FleetPair, Problem
from sluice.subsets.solution import Solution


@dataclass(frozen=True, eq=False)
class PreviousConnections:
    """Connections with both ends still live; their shares may add up to less than 1. quota: how many there were.
    touched: whether a container came or went on either side, or connections are missing or not allowed. fewest, all: as
    of `FleetPair`, with the containers that there were; where the pair is not known any more, as far as its connections
    tell."""

    connections: Connections
    quota: int
    touched: bool
    fewest: int
    all: int


def kept_by_name(problem: Problem, previous: NamedConnections) -> list[PreviousConnections | None]:
    """The kept connections of each pair; None where it had none."""
    return [_by_name(problem, pair, previous) for pair in problem.pairs]


def kept_of(problem: Problem, old: Problem, solution: Solution) -> list[PreviousConnections | None]:
    """As `kept_by_name`, from a solution with its arrays. Pairs with unchanged containers reuse these."""
    numbers = {
        (old.fleets[pair.upstream].service, old.fleets[pair.downstream].service): number
        for number, pair in enumerate(old.pairs)
    }
    places: dict[int, Ints] = {}
    kept_pairs: list[PreviousConnections | None] = []
    for pair in problem.pairs:
        above, below = problem.fleets[pair.upstream], problem.fleets[pair.downstream]
        number = numbers.get((above.service, below.service))
        if number is None:
            kept_pairs.append(None)
            continue
        was = old.pairs[number]
        ends = old.fleets[was.upstream], old.fleets[was.downstream]
        subsets = solution.subsets[number]
        if (ends[0] is above or ends[0].names == above.names) and (ends[1] is below or ends[1].names == below.names):
            kept_pairs.append(PreviousConnections(subsets, len(subsets), False, was.fewest, was.all))
            continue
        for now, then in ((above, ends[0]), (below, ends[1])):
            if id(now) not in places:
                places[id(now)] = np.array([now.index.get(name, -1) for name in then.names], dtype=np.int64)
        source, to = places[id(above)][subsets.source()], places[id(below)][subsets.to]
        kept_pairs.append(_kept(pair, source, to, subsets.share, True, (was.fewest, was.all)))
    return kept_pairs


def _by_name(problem: Problem, pair: FleetPair, previous: NamedConnections) -> PreviousConnections | None:
    above, below = problem.fleets[pair.upstream], problem.fleets[pair.downstream]
    ends: Mapping[tuple[str, str], float] = previous.get((above.service, below.service), {})
    if not ends:
        return None
    source = np.array([above.index.get(one, -1) for one, _ in ends], dtype=np.int64)
    to = np.array([below.index.get(other, -1) for _, other in ends], dtype=np.int64)
    weight = np.maximum(np.array(list(ends.values()), dtype=np.float64), 0.0)
    callers, called = {one for one, _ in ends}, {other for _, other in ends}
    all_there = callers == set(above.names) and called == set(below.names)
    enough = max(len(callers) * min(problem.rules.min_subset, len(called)), len(called))
    bounds = (pair.fewest, pair.all) if all_there else (enough, len(callers) * len(called))
    total = np.bincount(source + 1, weights=weight, minlength=len(above) + 1)
    share = weight / np.maximum(total[source + 1], 1e-300)
    return _kept(pair, source, to, share, not all_there, bounds)


def _kept(
    pair: FleetPair,
    source: Ints,
    to: Ints,
    share: Sequence[float] | np.ndarray,
    changed: bool,
    bounds: tuple[int, int],
) -> PreviousConnections:
    share, quota = np.asarray(share, dtype=np.float64), len(share)
    there = (source >= 0) & (to >= 0)
    source, to, share = source[there], to[there], share[there]
    order = np.lexsort((to, source)) if changed else np.arange(len(to))
    if not changed and len(to) and ((np.diff(source * pair.containers + to)) <= 0).any():
        order = np.lexsort((to, source))
    source, to, share = source[order], to[order], share[order]
    sizes = np.bincount(source, minlength=len(pair.most))
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    short = bool((sizes < pair.least).any()) or len(np.unique(to)) < pair.reachable
    return PreviousConnections(Connections(start, to, share), quota, changed or short, *bounds)
