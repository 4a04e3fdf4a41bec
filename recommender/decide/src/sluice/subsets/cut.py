"""Cuts observed call trees to the pairs that get subsets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

from sluice.subsets.application import Call, PairRate, Root
from sluice.subsets.calls import edges_of
from sluice.subsets.observed import ObservedTree
from sluice.subsets.self_calls import parts

#: The most trees of a root operation. Calls that only its other trees make count as pairs.
MOST_TREES = 8

Wanted = Callable[[str, str], bool]
"""Whether subsets should connect an upstream service to a downstream one."""


def roots(trees: Iterable[ObservedTree], wanted: Wanted, window_s: float) -> tuple[list[Root], list[PairRate]]:
    """The most frequent trees of each root operation, scaled to the rate of all its traces, and the pairs that only its
    other trees have.

    Calls that are not wanted are cut out. What is below one becomes a root of its own.
    """
    operations: dict[tuple[str, str], dict[Call, int]] = {}
    for measured in trees:
        operation_trees = operations.setdefault((measured.tree.service, measured.operation), {})
        operation_trees[measured.tree] = operation_trees.get(measured.tree, 0) + measured.traces
    rates: dict[str, tuple[Call, float]] = {}
    rare: dict[tuple[str, str], float] = {}
    for (service, operation), operation_trees in operations.items():
        ordered = sorted(operation_trees.items(), key=lambda one: (-one[1], repr(one[0])))
        chosen, rest = ordered[:MOST_TREES], ordered[MOST_TREES:]
        more = sum(operation_trees.values()) / sum(traces for _, traces in chosen)
        for tree, traces in chosen:
            for part, often in parts(tree, wanted):
                name = f"{service} {operation} {_digest(part)}"
                known = rates[name][1] if name in rates else 0.0
                rates[name] = part, known + often * traces * more / window_s
        for tree, traces in rest:
            for part, often in parts(tree, wanted):
                for up, down, calls in edges_of(part):
                    rare[up, down] = rare.get((up, down), 0.0) + often * calls * traces / window_s
    measured_roots = [Root(name, rate, tree) for name, (tree, rate) in sorted(rates.items())]
    known_pairs = {(up, down) for root in measured_roots for up, down, _ in edges_of(root.tree)}
    pairs = [PairRate(up, down, rate) for (up, down), rate in sorted(rare.items()) if (up, down) not in known_pairs]
    return measured_roots, pairs


def _digest(tree: Call) -> str:
    """A hash of the tree's shape."""
    return hashlib.blake2b(repr(tree).encode(), digest_size=4).hexdigest()
