"""Preferred zones, beyond the paper: upstream containers swap connections so that more of them stay in a zone.

A swap gives two upstream containers each other's downstream container. So each keeps its number of connections, and
each downstream container its number of callers: a zone leaves nobody without a connection. Loads stay as far as the two
send the same by a connection; with weights `weigh` fits them anew. So what the containers of a zone cannot take goes to
others, as without a preference.
"""

from __future__ import annotations

import numpy as np

from sluice.fast.compiled import compiled
from sluice.subsets.connections import Connections
from sluice.subsets.fleet import NO_ZONE, Floats, Ints
from sluice.subsets.microns.orchestrate import sorted_connections
from sluice.subsets.microns.traffic import PairTraffic, misplaced
from sluice.subsets.microns.weigh import weighed

# Without weights, two connections swap only where their calls differ by less than this part.
ALIKE = 0.1
# So many partners are tried for a connection before it stays.
TRIES = 64
# Swaps for a zone may take this part of the calls from the best containers.
FAR = 0.01
# The share of a connection out of its zone relative to one within, before shares are fitted to loads.
AWAY = 0.05


def swapped(placed: Connections, traffic: PairTraffic, weights: bool, most: int | None = None) -> Connections:
    """`placed` with up to `most` swaps, each of which changes two connections; None: as many as help. Shares are equal
    where anything changed.

    With weights the swaps are half as many, and again, while they would take calls from the best containers: a zone
    that keeps to itself may be unable to send the others what they can take.
    """
    if (traffic.prefers == NO_ZONE).all():
        return placed
    now, done = _swapped(placed, traffic, weights, len(placed.to) if most is None else most)
    if done == 0 or not weights:
        return now
    legal = max(misplaced(fitted(placed, traffic), traffic), FAR)
    while done and misplaced(fitted(now, traffic), traffic) > legal:
        now, done = _swapped(placed, traffic, weights, done // 2)
    return now


def _swapped(placed: Connections, traffic: PairTraffic, weights: bool, most: int) -> tuple[Connections, int]:
    """The connections, and the number of swaps."""
    to = placed.to.copy()
    alike = np.inf if weights else ALIKE
    sent = traffic.sent / np.maximum(placed.sizes(), 1)
    done = _swap(placed.start, to, placed.source(), sent, traffic.prefers, traffic.zone_below, most, alike, TRIES)
    return (sorted_connections(placed.start, to), done) if done else (placed, 0)


def fitted(placed: Connections, traffic: PairTraffic) -> Connections:
    """Connections with the shares that come closest to the target, those within preferred zones first."""
    return weighed(first_shares(placed, traffic), traffic.sent, traffic.target, traffic.fixed)


def first_shares(placed: Connections, traffic: PairTraffic) -> Connections:
    """Shares that prefer zones, to fit to the loads; as they are where there is no preference."""
    if (traffic.prefers == NO_ZONE).all():
        return placed
    prefers = traffic.prefers[placed.source()]
    share = np.where((prefers == NO_ZONE) | (prefers == traffic.zone_below[placed.to]), 1.0, AWAY)
    return Connections(
        placed.start, placed.to, share / np.repeat(np.add.reduceat(share, placed.start[:-1]), placed.sizes())
    )


@compiled
def _has(start: Ints, to: Ints, above: int, below: int) -> bool:
    found = False
    for at in range(start[above], start[above + 1]):
        found = found or to[at] == below
    return found


@compiled
def _swap(
    start: Ints,
    to: Ints,
    source: Ints,
    sent: Floats,
    prefers: Ints,
    zone_below: Ints,
    most: int,
    alike: float,
    tries: int,
) -> int:
    """Swaps in place, those first that bring both connections into their zones. Returns the number of swaps."""
    order = np.argsort(zone_below[to], kind="mergesort")
    sorted_zones = zone_below[to][order]
    done = 0
    for gain in (2, 1):
        next_try = np.zeros(zone_below.max() + 2, dtype=np.int64)
        for at in range(len(to)):
            above, zone = source[at], prefers[source[at]]
            if done >= most:
                return done
            if zone < 0 or zone > zone_below.max() or zone_below[to[at]] == zone:
                continue
            low = np.searchsorted(sorted_zones, zone)
            count = np.searchsorted(sorted_zones, zone, side="right") - low
            for _ in range(min(count, tries)):
                other = order[low + next_try[zone] % count]
                next_try[zone] += 1
                partner = source[other]
                if zone_below[to[other]] != zone or prefers[partner] == zone:
                    continue
                if gain == 2 and prefers[partner] != zone_below[to[at]]:
                    continue
                if abs(sent[above] - sent[partner]) > alike * min(sent[above], sent[partner]):
                    continue
                if _has(start, to, above, to[other]) or _has(start, to, partner, to[at]):
                    continue
                to[at], to[other] = to[other], to[at]
                done += 1
                break
    return done
