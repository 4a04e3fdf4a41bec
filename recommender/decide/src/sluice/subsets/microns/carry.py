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
from sluice.subsets.connections import Connections, flow
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.latency.curves import Curves
from sluice.subsets.microns.before import Kept, kept_by_name, kept_of
from sluice.subsets.microns.reference import Reference, references
from sluice.subsets.microns.repair import moved, repaired, sizes_near
from sluice.subsets.microns.settings import Settings
from sluice.subsets.microns.solve import Solved, notes_on, place, solve, target_of, wishes
from sluice.subsets.microns.weigh import weighed
from sluice.subsets.predict import pair_latency
from sluice.subsets.problem import Problem
from sluice.subsets.quotas import bounded, first_quotas
from sluice.subsets.solution import Solution
from sluice.subsets.strategy import MICRONS
from sluice.subsets.trees import parts

# The part of a pair's calls that may go elsewhere than it is best before connections are moved for it.
MISPLACED = 0.05
# Loads that differ by less, relative to the mean one, are the same.
CLOSE = 0.01


def solve_on(problem: Problem, curves: Sequence[Curves], settings: Settings, before: Named | None) -> Solution:
    """From the connections `before`, by name; from nothing where there are none, or where all may change."""
    if not before or settings.churn_budget >= 1:
        return solve(problem, curves, settings).solution
    nothing: list[None] = [None] * len(problem.fleets)
    return _carried(problem, curves, settings, kept_by_name(problem, before), nothing, nothing).solution


def solve_again(solved: Solved, problem: Problem, curves: Sequence[Curves], settings: Settings) -> Solved:
    """From a solution whose arrays are still there: fleets that are the same objects, with the same curves and calls,
    keep their optimal loads, and pairs of which neither end has another load keep their connections as they are."""
    old = solved.problem
    numbers = {fleet.service: number for number, fleet in enumerate(old.fleets)}
    known: list[Reference | None] = []
    work: list[Floats | None] = []
    for number, fleet in enumerate(problem.fleets):
        was = numbers.get(fleet.service, -1)
        same = (
            was >= 0
            and old.fleets[was] is fleet
            and solved.curves[was] is curves[number]
            and abs(old.rate_per_s[was] - problem.rate_per_s[number]) <= 1e-9 * problem.rate_per_s[number]
        )
        known.append(solved.references[was] if same else None)
        work.append(solved.work[was] if same else None)
    return _carried(problem, curves, settings, kept_of(problem, old, solved.solution), known, work)


def _carried(
    problem: Problem,
    curves: Sequence[Curves],
    settings: Settings,
    kept: Sequence[Kept | None],
    known: Sequence[Reference | None],
    work_before: Sequence[Floats | None],
) -> Solved:
    loads = references(problem, curves, known, settings.balance)
    quota = _quotas(problem, kept)
    found, work, left = _placed(
        problem,
        loads,
        kept,
        quota,
        settings,
        [None if one is None else before for one, before in zip(known, work_before, strict=True)],
    )
    touched = [number for number, each in enumerate(kept) if each is not None and each.touched]
    budget = int(settings.churn_budget * problem.quota) - left
    if budget > 0:
        _improve(problem, curves, loads, found, work, settings, budget, touched)
        work, _ = flow(problem, found)
    notes = tuple(notes_on(problem, loads))
    return Solved(problem, curves, loads, Solution(MICRONS, tuple(found), 1, True, notes), work)


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
    work_before: Sequence[Floats | None],
) -> tuple[list[Connections], list[Floats], int]:
    """Connections of all pairs with what has to change, the loads then, and how many connections changed."""
    rate = problem.rate_per_s
    work = [np.full(len(each), out / len(each)) for each, out in zip(problem.fleets, problem.outside, strict=True)]
    found: list[Connections] = [None] * len(quota)  # type: ignore[list-item]
    changes = 0
    for number in problem.order:
        pair, was = problem.pairs[number], kept[number]
        sent = work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream])
        if was is None:
            wanted = bounded(wishes(sent, settings.weights), pair.least, pair.most, int(quota[number]))
            now = place(problem, number, sent, wanted, loads[pair.downstream], settings.weights)
        elif was.touched or len(was.connections) != quota[number]:
            wanted = bounded(wishes(sent, settings.weights), pair.least, pair.most, int(quota[number]))
            sizes = sizes_near(was.connections.sizes(), wanted, pair.least, pair.most, int(quota[number]))
            target = target_of(problem, number, loads[pair.downstream])
            below = problem.fleets[pair.downstream]
            now = _shared(
                repaired(was.connections, sizes, sent, target, pair.zone, below.zone, 0), sent, target, settings
            )
            changes += _differences(was.connections, now, was.quota)
        elif work_before[pair.downstream] is not None and _close(work[pair.upstream], work_before[pair.upstream]):
            now = was.connections
        else:
            now = _shared(was.connections, sent, target_of(problem, number, loads[pair.downstream]), settings)
        found[number] = now
        work[pair.downstream] = work[pair.downstream] + now.received(sent, pair.containers)
    return found, work, changes


def _improve(
    problem: Problem,
    curves: Sequence[Curves],
    loads: Sequence[Reference],
    found: list[Connections],
    work: Sequence[Floats],
    settings: Settings,
    budget: int,
    touched: Sequence[int],
) -> None:
    """Moves connections within the budget. Where containers came or went, in the pairs that this touched: the new ones
    have few callers yet, which weights alone can hide. Else in those whose loads are off, first where it gains most."""
    rate = problem.rate_per_s
    for number in touched or _by_gain(problem, curves, loads, found, work):
        if budget <= 0:
            return
        pair = problem.pairs[number]
        sent = work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream])
        target = target_of(problem, number, loads[pair.downstream])
        now = moved(found[number], sent, target, pair.zone, problem.fleets[pair.downstream].zone, budget)
        budget -= _differences(found[number], now, len(now))
        found[number] = _shared(now, sent, target, settings)


def _by_gain(
    problem: Problem,
    curves: Sequence[Curves],
    loads: Sequence[Reference],
    found: Sequence[Connections],
    work: Sequence[Floats],
) -> list[int]:
    """Pairs with more than MISPLACED of their calls elsewhere than is best, by what end to end latency has of it."""
    rate = problem.rate_per_s
    targets = [target_of(problem, number, loads[pair.downstream]) for number, pair in enumerate(problem.pairs)]
    got = [
        one.received(work[pair.upstream] * (pair.rate_per_s / rate[pair.upstream]), pair.containers)
        for one, pair in zip(found, problem.pairs, strict=True)
    ]
    off = np.array([np.abs(one - other).sum() / 2 / one.sum() for one, other in zip(targets, got, strict=True)])
    if not (off > MISPLACED).any():
        return []
    latency, _ = pair_latency(problem, curves, work, got)
    best, _ = pair_latency(problem, curves, [each.load for each in loads], targets)
    gain = (latency - best) * parts(problem.trees, latency)
    return [int(number) for number in np.argsort(-gain, kind="stable") if off[number] > MISPLACED and gain[number] > 0]


def _shared(one: Connections, sent: Floats, target: Floats, settings: Settings) -> Connections:
    if settings.weights:
        return weighed(one, sent, target)
    return Connections(one.start, one.to, 1 / np.repeat(one.sizes(), one.sizes()))


def _close(now: Floats, before: Floats | None) -> bool:
    return before is not None and bool(np.abs(now - before).max() <= CLOSE * before.mean())


def _differences(before: Connections, now: Connections, quota: int) -> int:
    """Connections that are new or gone, whichever are more; `quota`: how many there were, gone ones included."""
    width = max(int(before.to.max(initial=0)), int(now.to.max(initial=0))) + 1
    was, there = before.source() * width + before.to, now.source() * width + now.to
    both = len(np.intersect1d(was, there, assume_unique=True))
    return max(quota - both, len(there) - both)
