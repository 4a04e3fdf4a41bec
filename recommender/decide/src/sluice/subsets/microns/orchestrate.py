"""Connection orchestration (Microns, 5.3): which downstream containers each upstream one gets, towards the optimal
loads.

The paper goes through upstream containers, and gives each the next downstream ones with a load below their optimum.
Here each gets the downstream containers with the least (load + one more) / optimum. Ties are broken by numbers drawn
from names. So neither the order of lists nor the order of names decides which containers share callers.
"""

from __future__ import annotations

import numpy as np

from sluice.fast.compiled import compiled
from sluice.subsets.chance import draws
from sluice.subsets.connections import Connections
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.microns.heap import rise, sink
from sluice.subsets.microns.traffic import PairTraffic

# Between two downstream containers that differ by less than this share, chance decides.
EQUAL = 0.01


def orchestrate(traffic: PairTraffic, sizes: Ints, drawn_by: int, weights: bool) -> Connections:
    """Connections of one pair, each with the same share of its upstream container's calls.

    sizes: (U,) connections of each upstream container, enough to reach every downstream one together. Each downstream
    container that may be reached gets a connection. weights: whether `weigh` sets the shares afterwards.
    """
    sent, target = traffic.sent, traffic.target
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    to, load = np.empty(int(start[-1]), dtype=np.int64), np.zeros(len(target))
    degree = np.zeros(len(target), dtype=np.int64)
    above, below = draws(drawn_by, len(sent)), draws(drawn_by + 1, len(target))
    share = sent / np.maximum(sizes, 1)
    part = np.maximum(target, 1e-9 * max(float(target.sum()), 1e-300))
    for zone_number in np.unique(traffic.zone)[::-1].tolist():
        upper = np.flatnonzero(traffic.zone == zone_number)
        lower = np.arange(len(target)) if zone_number < 0 else np.flatnonzero(traffic.zone_below == zone_number)
        order = upper[np.lexsort((above[upper], -np.round(share[upper] / max(share.max(), 1e-300), 3)))]
        usual = float(share[upper].mean())
        rare = lower[(part[lower] < usual) & (load[lower] == 0)]
        # Without weights each of these gets a whole share, so the upstream containers with the least shares come first.
        # With weights those come first that can send most elsewhere.
        rare = rare[np.argsort(below[rare], kind="stable") if weights else np.lexsort((below[rare], part[rare]))]
        filled = _deal(order if weights else order[::-1], start, share, rare, load, to)
        _choose(order, start, share, lower, filled, part, below, max(usual, 1e-300), EQUAL, load, to)
        _reach_all(upper, start, share, lower, part, load, to, degree)
    return sorted_connections(start, to)


def sorted_connections(start: Ints, to: Ints, share: Floats | None = None) -> Connections:
    """Sorts the connections of each upstream container by downstream container. Without `share`, shares are equal."""
    sizes = np.diff(start)
    order = np.lexsort((to, np.repeat(np.arange(len(sizes)), sizes)))
    if share is None:
        share = 1 / np.repeat(np.maximum(sizes, 1), sizes)
    return Connections(start, to[order], share[order])


@compiled
def _key(below: int, degree: int, load: Floats, part: Floats, drawn: Floats, usual: float, equal: float) -> float:
    # Each lap has another order, or the same containers would meet again and again (splitmix64's mixing).
    bits = np.uint64(drawn[below] * 9007199254740992.0) + np.uint64(degree) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    chance = np.float64(bits >> np.uint64(11)) / 9007199254740992.0
    key: float = (load[below] + usual) / part[below] * (1.0 + equal * chance)
    return key


@compiled
def _deal(order: Ints, start: Ints, share: Floats, rare: Ints, load: Floats, to: Ints) -> Ints:
    """Connects each container of `rare`, whose part is less than one even share, once.

    It spreads them over as many upstream containers as there are: one that had only such containers could not send
    enough elsewhere. Returns how many each upstream container of `order` got, (U,).
    """
    filled = np.zeros(len(start) - 1, dtype=np.int64)
    dealt = 0
    for keep in (1, 0):
        for _ in range(len(rare)):
            dealt_so_far = dealt
            for upper in order:
                if dealt < len(rare) and filled[upper] < start[upper + 1] - start[upper] - keep:
                    to[start[upper] + filled[upper]] = rare[dealt]
                    load[rare[dealt]] += share[upper]
                    filled[upper] += 1
                    dealt += 1
            if dealt in (dealt_so_far, len(rare)):
                break
    return filled


@compiled
def _choose(
    order: Ints,
    start: Ints,
    share: Floats,
    lower: Ints,
    filled: Ints,
    part: Floats,
    drawn: Floats,
    usual: float,
    equal: float,
    load: Floats,
    to: Ints,
) -> None:
    """Writes the other downstream containers of each of `order`, from `lower`, and adds to their load."""
    keys, degree, heap = np.empty(len(part)), np.zeros(len(part), dtype=np.int64), lower.copy()
    for below in lower:
        keys[below] = _key(below, 0, load, part, drawn, usual, equal)
    for at in range(len(heap) // 2 - 1, -1, -1):
        sink(keys, heap, len(heap), at)
    for upper in order:
        begin, at, end = start[upper], start[upper] + filled[upper], start[upper + 1]
        had, size = at, len(heap)
        while at < end:
            size -= 1
            heap[0], heap[size] = heap[size], heap[0]
            sink(keys, heap, size, 0)
            again = False
            for other in range(begin, had):
                again = again or to[other] == heap[size]
            if not again:
                to[at] = heap[size]
                at += 1
                load[heap[size]] += share[upper]
                degree[heap[size]] += 1
        for place in range(size, len(heap)):
            keys[heap[place]] = _key(heap[place], degree[heap[place]], load, part, drawn, usual, equal)
            rise(keys, heap, place)


@compiled
def _reach_all(
    upper: Ints, start: Ints, share: Floats, lower: Ints, part: Floats, load: Floats, to: Ints, degree: Ints
) -> None:
    """Gives each container without a connection one.

    It takes a connection of the upstream container that sends least by one. The connection's downstream container is
    furthest above its part and has others.
    """
    for above in upper:
        for at in range(start[above], start[above + 1]):
            degree[to[at]] += 1
    for below in lower:
        if degree[below] > 0:
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
        load[below] += share[above]
        degree[below] += 1
        to[least] = below
