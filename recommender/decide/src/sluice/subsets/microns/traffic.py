"""The calls of one pair: what its upstream containers send, and what each downstream container should receive."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.microns.reference import Reference, target_of
from sluice.subsets.problem import Problem


@dataclass(frozen=True, eq=False)
class PairTraffic:
    """sent: (U,) calls per second of the upstream containers. target: (D,) calls per second that the downstream
    containers should receive. zone, zone_below: (U,), (D,) which containers may connect: all where zone is -1, else
    those of that zone.
    """

    sent: Floats
    target: Floats
    zone: Ints
    zone_below: Ints


def traffic_of(problem: Problem, number: int, sent: Floats, load: Reference) -> PairTraffic:
    """The traffic of the pair `number`. `load`: what its downstream service aims at."""
    pair = problem.pairs[number]
    return PairTraffic(sent, target_of(problem, number, load), pair.zone, problem.fleets[pair.downstream].zone)
