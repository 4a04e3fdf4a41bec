"""Cycles of services that call each other: the order to process pairs in, and the calls to cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sluice.subsets.fleet import Floats, Ints

# The tolerance of a fixed point, relative to a pair's calls.
CLOSE = 1e-8
# With 1 callback in 3,001 calls the third pass converges; with 1 in 2 the 28th. Cycles without calls from outside may
# never converge by passes alone; then the mean of two passes does.
STRAIGHT, MOST_PASSES = 40, 200


class Calls(NamedTuple):
    """A pair of services by number: upstream, downstream, calls per second."""

    upstream: int
    downstream: int
    rate_per_s: float


def in_order(pairs: Sequence[Calls], services: int) -> tuple[tuple[int, ...], frozenset[int]]:
    """All pairs, those towards a service before those from it, and the set of pairs that break this order.

    Pairs of the set are cut and come last. The set is empty where no services call each other in a cycle. Worked: front
    -> cart 10/s, cart -> front 0.003/s: front is first, and cart -> front is cut.
    """
    group = _groups(pairs, services)
    place = _places(pairs, group, services)
    cut = {n for n, pair in enumerate(pairs) if group[pair.upstream] == group[pair.downstream] and _back(pair, place)}
    uncut = [number for number in range(len(pairs)) if number not in cut]
    return (*_topological(pairs, uncut, services), *sorted(cut)), frozenset(cut)


def _back(one: Calls, place: Ints) -> bool:
    return bool(place[one.upstream] >= place[one.downstream])


def _groups(pairs: Sequence[Calls], services: int) -> Ints:
    """(S,) the strongly connected component of each service (Tarjan, 1972)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ends = ([pair.upstream for pair in pairs], [pair.downstream for pair in pairs])
    graph = csr_array((np.ones(len(pairs)), ends), shape=(services, services))
    return np.asarray(connected_components(graph, directed=True, connection="strong")[1], dtype=np.int64)


def _places(pairs: Sequence[Calls], group: Ints, services: int) -> Ints:
    """(S,) places within each component such that few calls go back (Eades, Lin and Smyth, 1993, with rates).

    The next service is the one whose calls to the rest exceed those from it the most. At most half of a component's
    calls go back.
    """
    within: dict[int, list[Calls]] = {}
    for pair in pairs:
        if group[pair.upstream] == group[pair.downstream]:
            within.setdefault(int(group[pair.upstream]), []).append(pair)
    place: Ints = np.zeros(services, dtype=np.int64)
    for calls in within.values():
        for at, service in enumerate(_sequence(calls)):
            place[service] = at
    return place


def _sequence(calls: Sequence[Calls]) -> list[int]:
    """Puts sinks at the end and sources at the beginning. Without either, the service with the largest out minus in is
    next."""
    out: dict[int, dict[int, float]] = {}
    into: dict[int, dict[int, float]] = {}
    for up, down, rate in calls:
        for name in (up, down):
            out.setdefault(name, {})
            into.setdefault(name, {})
        out[up][down] = out[up].get(down, 0.0) + rate
        into[down][up] = into[down].get(up, 0.0) + rate
    begin: list[int] = []
    end: list[int] = []
    left = sorted(out)
    while left:
        if sinks := [service for service in left if not out[service]]:
            chosen, to = sinks[0], end
        elif sources := [service for service in left if not into[service]]:
            chosen, to = sources[0], begin
        else:
            chosen, to = (
                max(left, key=lambda service: (sum(out[service].values()) - sum(into[service].values()), -service)),
                begin,
            )
        to.append(chosen)
        left.remove(chosen)
        for down in out[chosen]:
            into[down].pop(chosen)
        for up in into[chosen]:
            out[up].pop(chosen)
        out[chosen], into[chosen] = {}, {}
    return begin + end[::-1]


def _topological(pairs: Sequence[Calls], those: Sequence[int], services: int) -> list[int]:
    """Kahn's algorithm."""
    waiting = [0] * services
    below: list[list[int]] = [[] for _ in range(services)]
    for number in those:
        waiting[pairs[number].downstream] += 1
        below[pairs[number].upstream].append(number)
    ready = [service for service in range(services) if waiting[service] == 0]
    order: list[int] = []
    for service in ready:
        for number in below[service]:
            order.append(number)
            after = pairs[number].downstream
            waiting[after] -= 1
            if waiting[after] == 0:
                ready.append(after)
    return order


def fixed_point(rate_per_s: float, was: Floats, now: Floats, passes: int) -> tuple[Floats, bool]:
    """What a cut pair brings in the next pass, (D,), and whether that equals what it brought in this one.

    The first STRAIGHT passes take the result of the pass. Later ones take the mean with the pass before, which ends an
    oscillation.
    """
    done = bool(np.abs(now - was).max(initial=0.0) <= CLOSE * rate_per_s)
    return (now if passes < STRAIGHT else (now + was) / 2), done
