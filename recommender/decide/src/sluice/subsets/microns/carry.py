"""From one solution to the next: what is connected stays so, but for what has to change, and a budget of what may.

- A container that goes takes its connections with it at once; its callers get others. One that comes gets its own.
  Quotas move between pairs that this touches. Pairs that it does not touch keep their connections; their weights follow
  the loads.
- Where latencies are still off what they could be, as after a drift of contention, connections move within the budget,
  in the pairs first that gain most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sluice.subsets.churn import Named
from sluice.subsets.connections import Connections
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.latency.curves import Curves
from sluice.subsets.microns.before import Kept, kept_by_name, kept_of
from sluice.subsets.microns.reference import Reference, references
from sluice.subsets.microns.repair import moved, repaired, sizes_near
from sluice.subsets.microns.settings import Settings
from sluice.subsets.microns.solve import Solved, notes_on, place, solve, target_of
from sluice.subsets.microns.weigh import weighed
from sluice.subsets.predict import pair_latency
from sluice.subsets.problem import Problem
from sluice.subsets.quotas import bounded, first_quotas
from sluice.subsets.solution import Solution
from sluice.subsets.strategy import MICRONS
from sluice.subsets.trees import parts

# The part of a pair's calls that may go elsewhere than it is best before connections are moved for it.
MISPLACED = 0.05


def solve_on(problem: Problem, curves: Sequence[Curves], settings: Settings, before: Named | None) -> Solution:
    """From the connections `before`, by name; from nothing where there are none, or where all may change."""
    if not before or settings.churn_budget >= 1:
        return solve(problem, curves, settings).solution
    nothing: list[Reference | None] = [None] * len(problem.fleets)
    return _carried(problem, curves, settings, kept_by_name(problem, before), nothing).solution


def solve_again(solved: Solved, problem: Problem, curves: Sequence[Curves], settings: Settings) -> Solved:
    """From a solution whose arrays are still there: fleets that are the same objects, with the same curves and calls,
    keep their optimal loads."""
    old = solved.problem
    numbers = {fleet.service: number for number, fleet in enumerate(old.fleets)}
    known: list[Reference | None] = []
    for number, fleet in enumerate(problem.fleets):
        was = numbers.get(fleet.service, -1)
        same = (
            was >= 0
            and old.fleets[was] is fleet
            and solved.curves[was] is curves[number]
            and abs(old.rate_per_s[was] - problem.rate_per_s[number]) <= 1e-9 * problem.rate_per_s[number]
        )
        known.append(solved.references[was] if same else None)
    return _carried(problem, curves, settings, kept_of(problem, old, solved.solution), known)


def _carried(
    problem: Problem,
    curves: Sequence[Curves],
    settings: Settings,
    kept: Sequence[Kept | None],
    known: Sequence[Reference | None],
) -> Solved:
    loads = references(problem, curves, known, settings.balance)
    quota = _quotas(problem, kept)
    budget = int(settings.churn_budget * problem.quota)
    found, budget = _placed(problem, loads, kept, quota, settings, budget)
    if budget > 0:
        touched = [each is not None and each.touched for each in kept]
        found = _improved(problem, curves, loads, found, settings, budget, touched)
    notes = tuple(notes_on(problem, loads))
    return Solved(problem, curves, loads, Solution(MICRONS, tuple(found), 1, True, notes))


def _quotas(problem: Problem, kept: Sequence[Kept | None]) -> Ints:
    """As many as before; what the whole has more or less goes to touched pairs, and only where they cannot take it to
    others."""
    least = np.array([pair.fewest for pair in problem.pairs])
    most = np.array([pair.all for pair in problem.pairs])
    first = first_quotas(problem)
    quota = np.array([first[number] if each is None else each.quota for number, each in enumerate(kept)])
    quota = np.clip(quota, least, most).astype(np.int64)
    touched = np.array([each is None or each.touched for each in kept])
    for chosen in (touched, np.ones(len(kept), dtype=bool)):
        left = problem.quota - int(quota.sum())
        if left and chosen.any():
            wanted = quota[chosen].astype(np.float64)
            quota[chosen] = bounded(wanted, least[chosen], most[chosen], int(quota[chosen].sum()) + left)
    return np.asarray(quota)


def _placed(
    problem: Problem,
    loads: Sequence[Reference],
    kept: Sequence[Kept | None],
    quota: Ints,
    settings: Settings,
    budget: int,
) -> tuple[list[Connections], int]:
    """Connections of all pairs with what has to change, and what is left of the budget."""
    rate = problem.rate_per_s
    work = [np.full(len(each), out / len(each)) for each, out in zip(problem.fleets, problem.outside, strict=True)]
    found: list[Connections] = [None] * len(quota)  # type: ignore[list-item]
    for number in problem.order:
        pair, was = problem.pairs[number], kept[number]
        below = problem.fleets[pair.downstream]
        sent = work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream])
        wanted = bounded(sent, pair.least, pair.most, int(quota[number]))
        if was is None:
            now = place(problem, number, sent, wanted, loads[pair.downstream], settings.weights)
        else:
            now = was.connections
            target = target_of(problem, number, loads[pair.downstream])
            if was.touched or len(now) != quota[number]:
                sizes = sizes_near(now.sizes(), wanted, pair.least, pair.most, int(quota[number]))
                now = repaired(now, sizes, sent, target, pair.zone, below.zone, 0)
                budget -= _differences(was.connections, now, was.quota)
            now = weighed(now, sent, target) if settings.weights else _evenly(now)
        found[number] = now
        work[pair.downstream] = work[pair.downstream] + now.received(sent, pair.containers)
    return found, budget


def _improved(
    problem: Problem,
    curves: Sequence[Curves],
    loads: Sequence[Reference],
    found: list[Connections],
    settings: Settings,
    budget: int,
    touched: Sequence[bool],
) -> list[Connections]:
    """With connections moved within the budget in the pairs whose loads are off the optimum, those first that gain
    most. Where containers came or went, only in pairs that this touched: the others are for another time."""
    work, got, sent = _flows(problem, found)
    targets = [target_of(problem, number, loads[pair.downstream]) for number, pair in enumerate(problem.pairs)]
    off = np.array([np.abs(one - other).sum() / 2 / one.sum() for one, other in zip(targets, got, strict=True)])
    # One that came has few callers yet, which weights alone can hide.
    may = np.array(touched) if any(touched) else off > MISPLACED
    if not may.any():
        return found
    latency, _ = pair_latency(problem, curves, work, got)
    best, _ = pair_latency(problem, curves, [each.load for each in loads], targets)
    gain = np.where(may, (latency - best) * parts(problem.trees, latency), -np.inf)
    for number in np.argsort(-gain, kind="stable").tolist():
        if not may[number] or budget <= 0:
            break
        pair = problem.pairs[number]
        zone_below = problem.fleets[pair.downstream].zone
        now = moved(found[number], sent[number], targets[number], pair.zone, zone_below, budget)
        budget -= _differences(found[number], now, len(now))
        found[number] = weighed(now, sent[number], targets[number]) if settings.weights else _evenly(now)
    return found


def _flows(problem: Problem, found: Sequence[Connections]) -> tuple[list[Floats], list[Floats], list[Floats]]:
    from sluice.subsets.connections import flow

    work, got = flow(problem, found)
    rate = problem.rate_per_s
    return work, got, [work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream]) for pair in problem.pairs]


def _evenly(one: Connections) -> Connections:
    return Connections(one.start, one.to, 1 / np.repeat(one.sizes(), one.sizes()))


def _differences(before: Connections, now: Connections, quota: int) -> int:
    """Connections that are new or gone, whichever are more; `quota`: how many there were, gone ones included."""
    width = max(int(before.to.max(initial=0)), int(now.to.max(initial=0))) + 1
    was, there = before.source() * width + before.to, now.source() * width + now.to
    both = len(np.intersect1d(was, there, assume_unique=True))
    return max(quota - both, len(there) - both)
