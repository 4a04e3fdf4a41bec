"""Moves connections to improve loads, a few at a time. A carried solution uses it within its budget. A new solution
ends with it, so that solving again without new inputs changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sluice.subsets.connections import Connections, Downwards, flow, realized
from sluice.subsets.fleet import NO_ZONE, Floats
from sluice.subsets.microns.reference import Optimum, Reference, back, target_of
from sluice.subsets.microns.repair import moved
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.traffic import PairTraffic, brought, left, misplaced, movable, traffic_of
from sluice.subsets.microns.zone_swaps import fitted, swapped
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
        load = loads[pair.downstream]
        traffic = movable(problem, number, traffic_of(problem, number, sent, load), load)
        placed[number] = shared(placed[number], traffic, settings)
        down.brings(number, realized(pair, placed[number], sent))
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
    room = budget
    for number in touched or _by_gain(optimum, placed, work):
        if room <= 0:
            break
        pair = problem.pairs[number]
        sent = work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream])
        load = optimum.loads[pair.downstream]
        traffic = movable(problem, number, traffic_of(problem, number, sent, load), load)
        if not traffic.sent.any():
            continue
        now = moved(placed[number], left(traffic), room)
        moves = differences(placed[number], now, len(now))
        now = shared(now, traffic, settings)
        if moves and (touched or _off(now, traffic) < _off(placed[number], traffic) * BETTER):
            room -= moves
            placed[number] = now
    return budget - _into_zones(optimum, placed, work, settings, room)


def _into_zones(
    optimum: Optimum, placed: list[Connections], work: Sequence[Floats], settings: MicronsSettings, room: int
) -> int:
    """Swaps connections into preferred zones with the rest of the budget. Returns what is left of it."""
    problem, rate = optimum.problem, optimum.problem.rate_per_s
    for number, pair in enumerate(problem.pairs):
        if room < 2 or (pair.prefers == NO_ZONE).all():
            continue
        sent = work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream])
        load = optimum.loads[pair.downstream]
        traffic = movable(problem, number, traffic_of(problem, number, sent, load), load)
        now = swapped(placed[number], traffic, settings.weights, room // 2)
        if changed := differences(placed[number], now, len(now)):
            room -= changed
            placed[number] = shared(now, traffic, settings)
    return room


def _off(one: Connections, traffic: PairTraffic) -> float:
    """The sum of squared differences from the best loads, relative to these."""
    target = traffic.target
    return float(((brought(one, traffic) - target) ** 2 / target).sum())


def _by_gain(optimum: Optimum, placed: Sequence[Connections], work: Sequence[Floats]) -> list[int]:
    """Pairs with more than MISPLACED of their calls at other than the best containers, by their effect on end to end
    latency."""
    problem, loads = optimum.problem, optimum.loads
    rate = problem.rate_per_s
    targets = [target_of(problem, number, loads[pair.downstream]) for number, pair in enumerate(problem.pairs)]
    sent = [work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream]) for pair in problem.pairs]
    got = [realized(pair, one, calls) for one, pair, calls in zip(placed, problem.pairs, sent, strict=True)]
    off = np.array([_misplaced(optimum, number, placed[number], calls) for number, calls in enumerate(sent)])
    if not (off > MISPLACED).any():
        return []
    latency, _ = pair_latency(problem, optimum.curves, work, got)
    best, _ = pair_latency(problem, optimum.curves, [load.load for load in loads], targets)
    gain = (latency - best) * parts(problem.trees, latency)
    return [int(number) for number in np.argsort(-gain, kind="stable") if off[number] > MISPLACED and gain[number] > 0]


def _misplaced(optimum: Optimum, number: int, one: Connections, sent: Floats) -> float:
    """The part of a pair's calls that weights can move and that go to other than the best containers, 0 to 1."""
    load = optimum.loads[optimum.problem.pairs[number].downstream]
    traffic = movable(optimum.problem, number, traffic_of(optimum.problem, number, sent, load), load)
    return misplaced(one, traffic)


def shared(one: Connections, traffic: PairTraffic, settings: MicronsSettings) -> Connections:
    """Connections with the shares that come closest to the target; equal shares without weights."""
    if settings.weights:
        return closest(one, traffic)
    return Connections(one.start, one.to, 1 / np.repeat(one.sizes(), one.sizes()))


def closest(one: Connections, traffic: PairTraffic) -> Connections:
    """Connections with the shares that come closest to the target; those of `PairTraffic.still` stay."""
    now = fitted(one, traffic)
    if traffic.still is None:
        return now
    return replace(now, share=np.where(traffic.still[one.source()], one.share, now.share))


def differences(previous: Connections, now: Connections, quota: int) -> int:
    """Connections that are new or gone, whichever are more. `quota`: how many there were, gone ones included."""
    width = max(int(previous.to.max(initial=0)), int(now.to.max(initial=0))) + 1
    was, there = previous.source() * width + previous.to, now.source() * width + now.to
    both = len(np.intersect1d(was, there, assume_unique=True))
    return max(quota - both, len(there) - both)
