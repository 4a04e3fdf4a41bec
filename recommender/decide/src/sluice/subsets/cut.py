"""Call trees as they were seen, cut to the pairs that get subsets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

from sluice.subsets.application import Call, PairRate, Root
from sluice.subsets.calls import edges_of
from sluice.subsets.seen import SeenTree
from sluice.subsets.self_calls import parts

#: Of a root operation so many trees count as such: of others, what they alone call counts as pairs.
MOST_TREES = 8

Wanted = Callable[[str, str], bool]
"""Whether the calls of an upstream service to a downstream one are to be connected by subsets."""


def roots(trees: Iterable[SeenTree], wanted: Wanted, window_s: float) -> tuple[list[Root], list[PairRate]]:
    """Of each root operation the most frequent trees, as often as all of it; and pairs that only other trees have.

    A call that is not wanted is cut out, and what is below it is called from outside.
    """
    operations: dict[tuple[str, str], dict[Call, int]] = {}
    for seen in trees:
        found = operations.setdefault((seen.tree.service, seen.operation), {})
        found[seen.tree] = found.get(seen.tree, 0) + seen.traces
    rates: dict[str, tuple[Call, float]] = {}
    rare: dict[tuple[str, str], float] = {}
    for (service, operation), found in operations.items():
        ordered = sorted(found.items(), key=lambda one: (-one[1], repr(one[0])))
        chosen, rest = ordered[:MOST_TREES], ordered[MOST_TREES:]
        more = sum(found.values()) / sum(traces for _, traces in chosen)
        for tree, traces in chosen:
            for part, often in parts(tree, wanted):
                name = f"{service} {operation} {_digest(part)}"
                known = rates[name][1] if name in rates else 0.0
                rates[name] = part, known + often * traces * more / window_s
        for tree, traces in rest:
            for part, often in parts(tree, wanted):
                for up, down, calls in edges_of(part):
                    rare[up, down] = rare.get((up, down), 0.0) + often * calls * traces / window_s
    made = [Root(name, rate, tree) for name, (tree, rate) in sorted(rates.items())]
    known_pairs = {(up, down) for root in made for up, down, _ in edges_of(root.tree)}
    pairs = [PairRate(up, down, rate) for (up, down), rate in sorted(rare.items()) if (up, down) not in known_pairs]
    return made, pairs


def _digest(tree: Call) -> str:
    """A name of the tree's shape."""
    return hashlib.blake2b(repr(tree).encode(), digest_size=4).hexdigest()
