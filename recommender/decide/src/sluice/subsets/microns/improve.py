"""Moves connections to improve loads, a few at a time. A carried solution uses it within its budget. A new solution
ends with it, so that solving again without new inputs changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sluice.subsets.connections import Connections, Downwards, flow
from sluice.subsets.fleet import NO_ZONE, Floats
from sluice.subsets.microns.reference import Optimum, Reference, back, target_of
from sluice.subsets.microns.repair import moved
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.traffic import PairTraffic, traffic_of
from sluice.subsets.microns.weigh import weighed
from sluice.subsets.microns.zone_swaps import first_shares, swapped
from sluice.subsets.predict import pair_latency
from sluice.subsets.problem import Problem
from sluice.subsets.trees import parts

# The part of a pair's calls that may go to other than the best containers before connections move for it.
MISPLACED = 0.05
# A change is kept only if it leaves less than this part of the difference from the best loads.
BETTER = 0.999
# The most rounds of a new solution, with one budget of moves each.
ROUNDS = 20


def settled(
    optimum: Optimum,
    placed: list[Connections],
    settings: MicronsSettings,
) -> list[Floats]:
    """Moves connections of a new solution until `improve` finds nothing. Returns the loads of containers then."""
    work, _ = flow(optimum.problem, placed)
    for _ in range(ROUNDS):
        budget = int(settings.churn_budget * optimum.problem.quota)
        if not improve(optimum, placed, work, settings, budget, ()):
            break
        work = _reshared(optimum.problem, optimum.loads, placed, settings)
    return work


def _reshared(
    problem: Problem, loads: Sequence[Reference], placed: list[Connections], settings: MicronsSettings
) -> list[Floats]:
    """Gives all connections the shares for the calls that their upstream containers make now. Returns the loads of
    containers then."""
    down = Downwards(problem, back(problem, loads))
    for number, pair, sent in down:
        placed[number] = shared(placed[number], traffic_of(problem, number, sent, loads[pair.downstream]), settings)
        down.brings(number, placed[number].received(sent, pair.containers))
    return flow(problem, placed)[0] if problem.cut else down.work


def improve(
    optimum: Optimum,
    placed: list[Connections],
    work: Sequence[Floats],
    settings: MicronsSettings,
    budget: int,
    touched: Sequence[int],
) -> int:
    """Moves connections within the budget. Returns how many moved.

    Where containers came or went, it moves those of the touched pairs: the new containers have few callers yet, which
    weights alone can hide. Otherwise it takes the pairs with wrong loads, those that gain most first. There it keeps a
    change only if loads come nearer to the best ones, which is not certain with weights.
    """
    problem, rate = optimum.problem, optimum.problem.rate_per_s
    left = budget
    for number in touched or _by_gain(optimum, placed, work):
        if left <= 0:
            break
        pair = problem.pairs[number]
        sent = work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream])
        traffic = traffic_of(problem, number, sent, optimum.loads[pair.downstream])
        now = moved(placed[number], traffic, left)
        moves = differences(placed[number], now, len(now))
        now = shared(now, traffic, settings)
        if moves and (touched or _off(now, traffic) < _off(placed[number], traffic) * BETTER):
            left -= moves
            placed[number] = now
    return budget - _into_zones(optimum, placed, work, settings, left)


def _into_zones(
    optimum: Optimum, placed: list[Connections], work: Sequence[Floats], settings: MicronsSettings, left: int
) -> int:
    """Swaps connections into preferred zones with the rest of the budget. Returns what is left of it."""
    problem, rate = optimum.problem, optimum.problem.rate_per_s
    for number, pair in enumerate(problem.pairs):
        if left < 2 or (pair.prefers == NO_ZONE).all():
            continue
        sent = work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream])
        traffic = traffic_of(problem, number, sent, optimum.loads[pair.downstream])
        now = swapped(placed[number], traffic, settings.weights, left // 2)
        if changed := differences(placed[number], now, len(now)):
            left -= changed
            placed[number] = shared(now, traffic, settings)
    return left


def _off(one: Connections, traffic: PairTraffic) -> float:
    """The sum of squared differences from the best loads, relative to these."""
    target = traffic.target
    return float(((one.received(traffic.sent, len(target)) - target) ** 2 / target).sum())


def _by_gain(optimum: Optimum, placed: Sequence[Connections], work: Sequence[Floats]) -> list[int]:
    """Pairs with more than MISPLACED of their calls at other than the best containers, by their effect on end to end
    latency."""
    problem, loads = optimum.problem, optimum.loads
    rate = problem.rate_per_s
    targets = [target_of(problem, number, loads[pair.downstream]) for number, pair in enumerate(problem.pairs)]
    got = [
        one.received(work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream]), pair.containers)
        for one, pair in zip(placed, problem.pairs, strict=True)
    ]
    off = np.array([np.abs(one - other).sum() / 2 / one.sum() for one, other in zip(targets, got, strict=True)])
    if not (off > MISPLACED).any():
        return []
    latency, _ = pair_latency(problem, optimum.curves, work, got)
    best, _ = pair_latency(problem, optimum.curves, [load.load for load in loads], targets)
    gain = (latency - best) * parts(problem.trees, latency)
    return [int(number) for number in np.argsort(-gain, kind="stable") if off[number] > MISPLACED and gain[number] > 0]


def shared(one: Connections, traffic: PairTraffic, settings: MicronsSettings) -> Connections:
    """Connections with the shares that come closest to the target; equal shares without weights."""
    if settings.weights:
        return weighed(first_shares(one, traffic), traffic.sent, traffic.target)
    return Connections(one.start, one.to, 1 / np.repeat(one.sizes(), one.sizes()))


def differences(previous: Connections, now: Connections, quota: int) -> int:
    """Connections that are new or gone, whichever are more. `quota`: how many there were, gone ones included."""
    width = max(int(previous.to.max(initial=0)), int(now.to.max(initial=0))) + 1
    was, there = previous.source() * width + previous.to, now.source() * width + now.to
    both = len(np.intersect1d(was, there, assume_unique=True))
    return max(quota - both, len(there) - both)
