"""The calls of one pair: what its upstream containers send, and what each downstream container should receive."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sluice.subsets.connections import Connections, free
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.microns.reference import Reference, target_of
from sluice.subsets.problem import Problem


@dataclass(frozen=True, eq=False)
class PairTraffic:
    """sent: (U,) calls per second of the upstream containers. target: (D,) calls per second that the downstream
    containers should receive. zone, zone_below: (U,), (D,) which containers may connect: all where zone is -1, else
    those of that zone. prefers: (U,) the zone that an upstream container prefers, -1 where it prefers none; (0,) where
    nobody prefers any. still: (U,) upstream containers whose shares stay; None: none. fixed: (D,) calls per second that
    others bring, as a part of the target; None: none.
    """

    sent: Floats
    target: Floats
    zone: Ints
    zone_below: Ints
    prefers: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    still: NDArray[np.bool_] | None = None
    fixed: Floats | None = None


def traffic_of(problem: Problem, number: int, sent: Floats, load: Reference) -> PairTraffic:
    """The traffic of the pair `number`. `load`: what its downstream service aims at."""
    pair = problem.pairs[number]
    zone_below = problem.fleets[pair.downstream].zone
    return PairTraffic(sent, target_of(problem, number, load), pair.zone, zone_below, pair.prefers)


def movable(problem: Problem, number: int, traffic: PairTraffic, load: Reference) -> PairTraffic:
    """A pair's traffic where some callers of its downstream service do not follow their subsets: the calls of its
    upstream containers that follow, and the part of the service's loads that these bring together with a like part of
    the fixed calls. Worked: of 100 calls/s to a service a half is fixed, and 20 of the others are this pair's: it has
    40 % of the loads as its target, and 40 % of the fixed calls.
    """
    pair = problem.pairs[number]
    if load.fixed is None:
        return traffic
    sent = free(pair, traffic.sent)
    outside = problem.outside[pair.downstream] / pair.containers
    part = float(sent.sum()) / max(float((load.load - load.fixed).sum()), 1e-300)
    target = np.maximum(load.load - outside, 1e-6 * load.load.mean()) * part
    still = None if pair.fixed is None else pair.fixed.sizes() > 0
    return replace(traffic, sent=sent, target=target, still=still, fixed=(load.fixed - outside) * part)


def left(traffic: PairTraffic) -> PairTraffic:
    """With what fixed calls leave of the target, scaled to what is sent."""
    if traffic.fixed is None:
        return traffic
    rest = np.maximum(traffic.target - traffic.fixed, 1e-6 * max(float(traffic.target.mean()), 1e-300))
    return replace(traffic, target=rest * (float(traffic.sent.sum()) / float(rest.sum())), fixed=None)


def brought(connections: Connections, traffic: PairTraffic) -> Floats:
    """(D,) calls per second that the downstream containers receive, those that others bring too."""
    got = connections.received(traffic.sent, len(traffic.target))
    return got if traffic.fixed is None else got + traffic.fixed


def misplaced(connections: Connections, traffic: PairTraffic) -> float:
    """The part of the calls that goes to other than the best containers, 0 to 1."""
    if not traffic.sent.any():
        return 0.0
    return float(np.abs(traffic.target - brought(connections, traffic)).sum() / 2 / traffic.sent.sum())
