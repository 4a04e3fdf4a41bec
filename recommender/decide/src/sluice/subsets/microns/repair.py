"""Changes the connections of a pair no more than is necessary, or than is allowed."""

from __future__ import annotations

import numpy as np

from sluice.fast.compiled import compiled
from sluice.subsets.connections import Connections
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.microns.orchestrate import sorted_connections
from sluice.subsets.microns.traffic import PairTraffic


def sizes_near(kept: Ints, wanted: Ints, least: Ints, most: Ints, total: int) -> Ints:
    """Sizes of subsets, (U,), that add up to `total` and differ little from `kept`. The sizes furthest from `wanted`
    change."""
    sizes = np.clip(kept, least, most)
    while (left := total - int(sizes.sum())) != 0:
        step = 1 if left > 0 else -1
        room = sizes < most if left > 0 else sizes > least
        order = np.argsort(-(wanted - sizes) * step, kind="stable")
        chosen = order[room[order]]
        if not len(chosen):
            break
        sizes[chosen[: abs(left)]] += step
    return sizes


def repaired(kept: Connections, sizes: Ints, traffic: PairTraffic, moves: int) -> Connections:
    """`kept` with `sizes` connections for each upstream container, such that each downstream container is reached.

    Then it moves up to `moves` connections to where they bring the loads nearer to the target. Each connection has an
    even share.
    """
    target, zones = traffic.target, (traffic.zone, traffic.zone_below)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    part = np.maximum(target, 1e-9 * max(float(target.sum()), 1e-300))
    share = traffic.sent / np.maximum(sizes, 1)
    to = _resized(kept.start, kept.to, start, share, part, *zones)
    _reach(start, to, share, part, *zones)
    _move(start, to, share, part, *zones, moves)
    return _with_shares(kept, sorted_connections(start, to))


def moved(kept: Connections, traffic: PairTraffic, moves: int) -> Connections:
    """`kept` with up to `moves` connections moved to other downstream containers."""
    return repaired(kept, kept.sizes(), traffic, moves)


def _with_shares(previous: Connections, now: Connections) -> Connections:
    """`now`, where connections that existed before have their earlier shares, as a start for `weighed`."""
    width = max(int(previous.to.max(initial=0)), int(now.to.max(initial=0))) + 1
    was = previous.source() * width + previous.to
    keys = now.source() * width + now.to
    at = np.minimum(np.searchsorted(was, keys), len(was) - 1) if len(was) else np.zeros(len(keys), dtype=np.int64)
    there = was[at] == keys if len(was) else np.zeros(len(keys), dtype=bool)
    share = np.where(there, previous.share[at] if len(was) else 0.0, now.share)
    total = np.add.reduceat(share, now.start[:-1])
    return Connections(now.start, now.to, share / np.repeat(total, now.sizes()))


@compiled
def _may(above: int, below: int, zone: Ints, zone_below: Ints) -> bool:
    return bool(zone[above] < 0 or zone[above] == zone_below[below])


@compiled
def _resized(
    kept_start: Ints, kept: Ints, start: Ints, share: Floats, part: Floats, zone: Ints, zone_below: Ints
) -> Ints:
    """Drops the connections to containers most above their part. Fills up with containers that nobody calls, then with
    those of the least load."""
    to, load = np.full(start[-1], -1), np.zeros(len(part))
    degree = np.zeros(len(part), dtype=np.int64)
    for above in range(len(share)):
        for at in range(kept_start[above], kept_start[above + 1]):
            load[kept[at]] += share[above]
            degree[kept[at]] += 1
    for above in range(len(share)):
        room, have = start[above + 1] - start[above], kept_start[above + 1] - kept_start[above]
        mine = kept[kept_start[above] : kept_start[above + 1]].copy()
        while have > room:
            worst, most = 0, -1.0
            for at in range(have):
                weight = load[mine[at]] / part[mine[at]] * (1.0 if degree[mine[at]] > 1 else 1e-6)
                if weight > most:
                    worst, most = at, weight
            load[mine[worst]] -= share[above]
            degree[mine[worst]] -= 1
            have -= 1
            mine[worst] = mine[have]
        to[start[above] : start[above] + have] = mine[:have]
    for above in range(len(share)):
        begin, end = start[above], start[above + 1]
        for at in range(begin, end):
            if to[at] >= 0:
                continue
            best, least = -1, 0.0
            for below in range(len(part)):
                weight = (load[below] + share[above]) / part[below] if degree[below] else -part[below]
                if (best < 0 or weight < least) and _may(above, below, zone, zone_below):
                    taken = False
                    for other in range(begin, at):
                        taken = taken or to[other] == below
                    if not taken:
                        best, least = below, weight
            to[at] = best
            load[best] += share[above]
            degree[best] += 1
    return to


@compiled
def _reach(start: Ints, to: Ints, share: Floats, part: Floats, zone: Ints, zone_below: Ints) -> None:
    """Connects each container without a connection, where one may connect to it and others have several."""
    degree, load = np.zeros(len(part), dtype=np.int64), np.zeros(len(part))
    for above in range(len(share)):
        for at in range(start[above], start[above + 1]):
            degree[to[at]] += 1
            load[to[at]] += share[above]
    for below in range(len(part)):
        if degree[below] > 0:
            continue
        best, from_, most = -1, -1, 0.0
        for above in range(len(share)):
            if not _may(above, below, zone, zone_below):
                continue
            for at in range(start[above], start[above + 1]):
                weight = load[to[at]] / part[to[at]] / max(share[above], 1e-300)
                if degree[to[at]] > 1 and (best < 0 or weight > most):
                    best, from_, most = at, above, weight
        if best >= 0:
            degree[to[best]] -= 1
            load[to[best]] -= share[from_]
            to[best] = below
            degree[below] += 1
            load[below] += share[from_]


@compiled
def _move(start: Ints, to: Ints, share: Floats, part: Floats, zone: Ints, zone_below: Ints, moves: int) -> None:
    """Moves one connection at a time from the container that is most above its part to the one that is most below.

    It goes on as long as the sum of squared differences, relative to parts, falls.
    """
    degree, load = np.zeros(len(part), dtype=np.int64), np.zeros(len(part))
    for above in range(len(share)):
        for at in range(start[above], start[above + 1]):
            degree[to[at]] += 1
            load[to[at]] += share[above]
    total = part.sum()
    for _ in range(moves):
        low, high = -1, -1
        for below in range(len(part)):
            if low < 0 or load[below] / part[below] < load[low] / part[low]:
                low = below
            if degree[below] > 1 and (high < 0 or load[below] / part[below] > load[high] / part[high]):
                high = below
        if high < 0 or low == high:
            return
        best, gain, by = -1, 1e-9 * total, 0.0
        for above in range(len(share)):
            if not _may(above, low, zone, zone_below):
                continue
            place, there = -1, False
            for at in range(start[above], start[above + 1]):
                place = at if to[at] == high else place
                there = there or to[at] == low
            if place < 0 or there:
                continue
            flow = share[above]
            over, under = load[high] - part[high], load[low] - part[low]
            less = (over**2 - (over - flow) ** 2) / part[high] + (under**2 - (under + flow) ** 2) / part[low]
            if less > gain:
                best, gain, by = place, less, flow
        if best < 0:
            return
        to[best] = low
        load[high] -= by
        load[low] += by
        degree[high] -= 1
        degree[low] += 1
