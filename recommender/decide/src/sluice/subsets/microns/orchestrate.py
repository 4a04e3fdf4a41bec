"""Connection orchestration (Microns, 5.3): which downstream containers each upstream one gets, towards the optimal
loads.

The paper goes through upstream containers, and gives each the next downstream ones whose load is below its optimum.
Here each gets those that would be least above their own part, relative to it: (load + one more) / optimum. Who comes
where is drawn from names, so that neither the order of lists nor that of names decides who shares whom.
"""

from __future__ import annotations

import numpy as np

from sluice.subsets.chance import draws
from sluice.subsets.compiled import compiled
from sluice.subsets.connections import Connections
from sluice.subsets.fleet import Floats, Ints

# Of two downstream containers that are equal but for so much, chance decides.
EQUAL = 0.01


def orchestrate(sent: Floats, sizes: Ints, target: Floats, zone: Ints, zone_below: Ints, drawn_by: int) -> Connections:
    """Connections of one pair, each with the same share of its upstream container's calls.

    sent: (U,) calls per second. sizes: (U,) connections of each, which together reach everybody. target: (D,) calls per
    second, the optimum. zone, zone_below: (U,), (D,) who may be connected: all where zone is -1, else those of that
    zone. Every downstream container that may be reached is.
    """
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    to, load = np.empty(int(start[-1]), dtype=np.int64), np.zeros(len(target))
    degree = np.zeros(len(target), dtype=np.int64)
    above, below = draws(drawn_by, len(sent)), draws(drawn_by + 1, len(target))
    share = sent / np.maximum(sizes, 1)
    part = np.maximum(target, 1e-9 * max(float(target.sum()), 1e-300))
    for zone_number in np.unique(zone)[::-1].tolist():
        upper = np.flatnonzero(zone == zone_number)
        lower = np.arange(len(target)) if zone_number < 0 else np.flatnonzero(zone_below == zone_number)
        order = upper[np.lexsort((above[upper], -np.round(share[upper] / max(share.max(), 1e-300), 3)))]
        usual = float(share[upper].mean())
        _choose(order, start, share, lower, part, below, max(usual, 1e-300), EQUAL, load, to)
        _reach_all(upper, start, share, lower, part, load, to, degree)
    return sorted_connections(start, to)


def sorted_connections(start: Ints, to: Ints, share: Floats | None = None) -> Connections:
    """With the connections of each upstream container by downstream container; equal shares where none are given."""
    sizes = np.diff(start)
    order = np.lexsort((to, np.repeat(np.arange(len(sizes)), sizes)))
    if share is None:
        share = 1 / np.repeat(np.maximum(sizes, 1), sizes)
    return Connections(start, to[order], share[order])


@compiled
def _key(each: int, degree: int, load: Floats, part: Floats, drawn: Floats, usual: float, equal: float) -> float:
    # Another order on each lap, or the same containers would meet again and again (splitmix64's mixing).
    bits = np.uint64(drawn[each] * 9007199254740992.0) + np.uint64(degree) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    chance = np.float64(bits >> np.uint64(11)) / 9007199254740992.0
    key: float = (load[each] + usual) / part[each] * (1.0 + equal * chance)
    return key


@compiled
def _sink(keys: Floats, heap: Ints, size: int, at: int) -> None:
    """Puts the entry at `at` of a heap of the least keys to its place below."""
    while True:
        least = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < size and keys[heap[child]] < keys[heap[least]]:
                least = child
        if least == at:
            return
        heap[at], heap[least] = heap[least], heap[at]
        at = least


@compiled
def _rise(keys: Floats, heap: Ints, at: int) -> None:
    while at > 0 and keys[heap[at]] < keys[heap[(at - 1) // 2]]:
        heap[at], heap[(at - 1) // 2] = heap[(at - 1) // 2], heap[at]
        at = (at - 1) // 2


@compiled
def _choose(
    order: Ints,
    start: Ints,
    share: Floats,
    lower: Ints,
    part: Floats,
    drawn: Floats,
    usual: float,
    equal: float,
    load: Floats,
    to: Ints,
) -> None:
    """Writes what each of `order` is connected to, of `lower`, and adds to their load."""
    keys, degree, heap = np.empty(len(part)), np.zeros(len(part), dtype=np.int64), lower.copy()
    for each in lower:
        keys[each] = _key(each, 0, load, part, drawn, usual, equal)
    for at in range(len(heap) // 2 - 1, -1, -1):
        _sink(keys, heap, len(heap), at)
    for upper in order:
        count, size = start[upper + 1] - start[upper], len(heap)
        for number in range(count):
            size -= 1
            heap[0], heap[size] = heap[size], heap[0]
            _sink(keys, heap, size, 0)
            to[start[upper] + number] = heap[size]
        for _ in range(count):
            each = heap[size]
            load[each] += share[upper]
            degree[each] += 1
            keys[each] = _key(each, degree[each], load, part, drawn, usual, equal)
            _rise(keys, heap, size)
            size += 1


@compiled
def _reach_all(
    upper: Ints, start: Ints, share: Floats, lower: Ints, part: Floats, load: Floats, to: Ints, degree: Ints
) -> None:
    """Nobody stays without a connection: it gets one of the upstream container that sends least by one, from whichever
    of its downstream containers is furthest above its part and has others."""
    for above in upper:
        for at in range(start[above], start[above + 1]):
            degree[to[at]] += 1
    for each in lower:
        if degree[each] > 0:
            continue
        least, best = -1, 0.0
        for above in upper:
            for at in range(start[above], start[above + 1]):
                if degree[to[at]] < 2:
                    continue
                worth = load[to[at]] / part[to[at]] / max(share[above], 1e-300)
                if least < 0 or worth > best:
                    least, best = at, worth
        if least < 0:
            return
        above = np.searchsorted(start, least, side="right") - 1
        load[to[least]] -= share[above]
        degree[to[least]] -= 1
        load[each] += share[above]
        degree[each] += 1
        to[least] = each
