"""The calls of one pair: what its upstream containers send, and what each downstream container should receive."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.microns.reference import Reference, target_of
from sluice.subsets.problem import Problem


@dataclass(frozen=True, eq=False)
class PairTraffic:
    """sent: (U,) calls per second of the upstream containers. target: (D,) calls per second that the downstream
    containers should receive. zone, zone_below: (U,), (D,) which containers may connect: all where zone is -1, else
    those of that zone. prefers: (U,) the zone that an upstream container prefers, -1 where it prefers none; (0,) where
    nobody prefers any.
    """

    sent: Floats
    target: Floats
    zone: Ints
    zone_below: Ints
    prefers: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def traffic_of(problem: Problem, number: int, sent: Floats, load: Reference) -> PairTraffic:
    """The traffic of the pair `number`. `load`: what its downstream service aims at."""
    pair = problem.pairs[number]
    zone_below = problem.fleets[pair.downstream].zone
    return PairTraffic(sent, target_of(problem, number, load), pair.zone, zone_below, pair.prefers)
