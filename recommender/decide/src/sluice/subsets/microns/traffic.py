"""The calls of one pair: what its upstream containers send, and what each downstream container should receive."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sluice.subsets.connections import free
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.microns.reference import Reference, target_of
from sluice.subsets.problem import Problem


@dataclass(frozen=True, eq=False)
class PairTraffic:
    """sent: (U,) calls per second of the upstream containers. target: (D,) calls per second that the downstream
    containers should receive. zone, zone_below: (U,), (D,) which containers may connect: all where zone is -1, else
    those of that zone. still: (U,) upstream containers whose shares stay; None: none.
    """

    sent: Floats
    target: Floats
    zone: Ints
    zone_below: Ints
    still: NDArray[np.bool_] | None = None


def traffic_of(problem: Problem, number: int, sent: Floats, load: Reference) -> PairTraffic:
    """The traffic of the pair `number`. `load`: what its downstream service aims at."""
    pair = problem.pairs[number]
    return PairTraffic(sent, target_of(problem, number, load), pair.zone, problem.fleets[pair.downstream].zone)


def movable(problem: Problem, number: int, traffic: PairTraffic, load: Reference) -> PairTraffic:
    """The part of a pair's traffic that weights can move: that of upstream containers which follow their subsets. The
    others send nothing here, and the target is what their calls leave of the load.

    No target is above what is left of a container's load: where fixed calls exceed the load of some containers, the
    others get less. So capacities that the loads keep hold for the sum too, as far as fixed calls alone keep them.
    """
    pair = problem.pairs[number]
    if load.fixed is None:
        return traffic
    sent = free(pair, traffic.sent)
    left = np.maximum(load.load - load.fixed, 1e-6 * load.load.mean())
    still = None if pair.fixed is None else pair.fixed.sizes() > 0
    return replace(traffic, sent=sent, target=left * (float(sent.sum()) / float(left.sum())), still=still)
