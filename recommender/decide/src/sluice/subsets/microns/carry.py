"""From one solution to the next: connections stay, except necessary changes and a budget of improvements.

- A gone container takes its connections with it at once, and its callers get others. A new one gets its own. Quotas
  move between the pairs that this touches. Pairs that it does not touch keep their connections; their weights follow
  the loads.
- Where latencies or contention are others, quotas move towards those of a new solution, within the budget (`follow`).
- Where no quota is set, the number of connections stays, scaled with the containers. It rises or falls within the
  budget (`number`).
- Where latencies are not at their best, as after a drift of contention, connections move within the budget. The pairs
  that gain most come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sluice.subsets.churn import NamedConnections
from sluice.subsets.connections import Connections, Downwards, flow, realized
from sluice.subsets.fixed import same_flows
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.latency.curves import Curves
from sluice.subsets.microns.follow import followed
from sluice.subsets.microns.improve import differences, improve, shared
from sluice.subsets.microns.loop import place, wishes
from sluice.subsets.microns.number import kept_number, renumbered
from sluice.subsets.microns.previous import PreviousConnections, kept_by_name, kept_of
from sluice.subsets.microns.reference import Optimum, Reference, back, references
from sluice.subsets.microns.repair import repaired, sizes_near
from sluice.subsets.microns.settings import MicronsSettings, NumberRule
from sluice.subsets.microns.solve import Aim, Solved, notes_on, solve
from sluice.subsets.microns.traffic import movable, traffic_of
from sluice.subsets.problem import FleetPair, Problem
from sluice.subsets.quotas import bounded, first_quotas
from sluice.subsets.solution import Solution
from sluice.subsets.strategy import MICRONS

# Loads that differ by less, relative to the mean load, count as equal.
CLOSE = 0.01


def solve_on(
    problem: Problem, curves: Sequence[Curves], settings: MicronsSettings, previous: NamedConnections | None
) -> Solution:
    """Solves from the connections `previous`, by name; from nothing where there are none, or where all may change."""
    return solved_on(problem, curves, settings, previous).solution


def solved_on(
    problem: Problem,
    curves: Sequence[Curves],
    settings: MicronsSettings,
    previous: NamedConnections | None,
    aim: Aim | None = None,
) -> Solved:
    """The same, with all arrays that the next solution can continue from. `aim` as of `solve`."""
    if not previous or settings.churn_budget >= 1:
        return solve(problem, curves, settings, aim)
    nothing: list[None] = [None] * len(problem.fleets)
    return _carried(problem, curves, settings, kept_by_name(problem, previous), (nothing, nothing, nothing), aim)


def solve_again(
    solved: Solved,
    problem: Problem,
    curves: Sequence[Curves],
    settings: MicronsSettings,
    best: Sequence[Reference] = (),
    aim: Aim | None = None,
) -> Solved:
    """Solves from a solution with its arrays.

    Fleets that are the same objects, with the same curves and calls, keep their optimal loads. Pairs with unchanged
    loads at both ends keep their connections. best: the optimal loads of that solution, where it was made for others.
    `aim` as of `solve`. Where quotas follow, this solves anew with a budget of 1.
    """
    if settings.quotas_follow and settings.churn_budget >= 1:
        return solve(problem, curves, settings, aim)
    old, best = solved.problem, best or solved.references
    numbers = {fleet.service: number for number, fleet in enumerate(old.fleets)}
    known: list[Reference | None] = []
    aimed: list[Reference | None] = []
    work: list[Floats | None] = []
    for number, fleet in enumerate(problem.fleets):
        was = numbers.get(fleet.service, -1)
        same = (
            was >= 0
            and old.fleets[was] is fleet
            and solved.curves[was] is curves[number]
            and abs(old.rate_per_s[was] - problem.rate_per_s[number]) <= 1e-9 * problem.rate_per_s[number]
            and same_flows(old, problem, fleet.service)
        )
        known.append(best[was] if same else None)
        aimed.append(solved.references[was] if same else None)
        work.append(solved.work[was] if same else None)
    unchanged = known, aimed, work
    return _carried(problem, curves, settings, kept_of(problem, old, solved.solution), unchanged, aim)


def _carried(
    problem: Problem,
    curves: Sequence[Curves],
    settings: MicronsSettings,
    kept: Sequence[PreviousConnections | None],
    unchanged: tuple[Sequence[Reference | None], Sequence[Reference | None], Sequence[Floats | None]],
    aim: Aim | None,
) -> Solved:
    """unchanged: the best loads of each unchanged service, the loads that connections aimed at, and the loads that they
    brought."""
    known, aimed, work_before = unchanged
    chosen = problem.rules.quota is None and settings.number is not NumberRule.USUAL
    if chosen:
        problem = replace(problem, quota=kept_number(problem, kept))
    loads = references(problem, curves, known, settings.balance)
    loads = loads if aim is None else aim(problem, loads)
    same = [was is not None and _close(reference.load, was.load) for reference, was in zip(loads, aimed, strict=True)]
    quota = _quotas(problem, kept)
    loads_kept = [load if one else None for one, load in zip(same, work_before, strict=True)]
    placed, work, changes = _placed(problem, loads, kept, quota, settings, loads_kept)
    touched = [number for number, pair in enumerate(kept) if pair is not None and pair.touched]
    optimum, allowed = Optimum(problem, curves, loads), int(settings.churn_budget * problem.quota)
    wanted = quota
    if settings.quotas_follow:
        wanted = followed(optimum, placed, quota, allowed - changes, settings)
        if (wanted != quota).any():
            placed, work, changes = _placed(problem, loads, kept, wanted, settings, loads_kept)
    if allowed > changes:
        moves = improve(optimum, placed, work, settings, allowed - changes, touched)
        # The number changes only where moves find nothing.
        if chosen and not moves and wanted is quota:
            again = partial(_placed, problem, loads, kept, settings=settings, work_before=loads_kept)
            placed = renumbered(optimum, placed, allowed - changes, settings, lambda quotas: again(quota=quotas)[0])
        work, _ = flow(problem, placed)
    problem = replace(problem, quota=sum(map(len, placed)))
    notes = tuple(notes_on(problem, loads, work))
    return Solved(problem, curves, loads, Solution(MICRONS, tuple(placed), 1, True, notes), work)


def _quotas(problem: Problem, kept: Sequence[PreviousConnections | None]) -> Ints:
    """Each pair's quota of before. The difference to the total goes to touched pairs, and to others only where those
    cannot take it. Touched pairs keep their remaining connections where that is possible."""
    least = np.array([pair.fewest for pair in problem.pairs])
    most = np.array([pair.all for pair in problem.pairs])
    first = first_quotas(problem)
    quota = np.array([first[number] if pair is None else pair.quota for number, pair in enumerate(kept)])
    quota = np.clip(quota, least, most).astype(np.int64)
    touched = np.array([pair is None or pair.touched for pair in kept])
    need = np.array(
        [0 if last is None else _needed(pair, last) for pair, last in zip(problem.pairs, kept, strict=True)]
    )
    need = np.clip(need, least, most)
    for chosen in (touched, np.ones(len(kept), dtype=bool)):
        left = problem.quota - int(quota.sum())
        if left and chosen.any():
            wanted, total = quota[chosen].astype(np.float64), int(quota[chosen].sum()) + left
            low = need[chosen] if need[chosen].sum() <= total else least[chosen]
            quota[chosen] = bounded(wanted, low, most[chosen], total)
    return np.asarray(quota)


def _needed(pair: FleetPair, kept: PreviousConnections) -> int:
    """Connections with which a pair loses none that it still has, and each container has enough."""
    ends = kept.connections
    if not kept.touched:
        return kept.quota
    alone = pair.reachable - len(np.unique(ends.to))
    return max(int(np.maximum(ends.sizes(), pair.least).sum()), len(ends) + alone)


def _placed(
    problem: Problem,
    loads: Sequence[Reference],
    kept: Sequence[PreviousConnections | None],
    quota: Ints,
    settings: MicronsSettings,
    work_before: Sequence[Floats | None],
) -> tuple[list[Connections], list[Floats], int]:
    """Connections of all pairs with the necessary changes, the loads that they bring, and how many connections
    changed."""
    down = Downwards(problem, back(problem, loads))
    placed: list[Connections] = [None] * len(quota)  # type: ignore[list-item]
    changes = 0
    for number, pair, sent in down:
        was = kept[number]
        if was is None:
            wanted = bounded(wishes(sent, settings.weights), pair.least, pair.most, int(quota[number]))
            now = place(problem, number, sent, wanted, loads[pair.downstream], settings.weights)
        elif was.touched or len(was.connections) != quota[number]:
            wanted = bounded(wishes(sent, settings.weights), pair.least, pair.most, int(quota[number]))
            sizes = sizes_near(was.connections.sizes(), wanted, pair.least, pair.most, int(quota[number]))
            traffic = traffic_of(problem, number, sent, loads[pair.downstream])
            fitting = movable(problem, number, traffic, loads[pair.downstream])
            now = shared(repaired(was.connections, sizes, traffic, 0), fitting, settings)
            changes += differences(was.connections, now, was.quota)
        elif work_before[pair.downstream] is not None and _close(down.work[pair.upstream], work_before[pair.upstream]):
            now = was.connections
        else:
            traffic = traffic_of(problem, number, sent, loads[pair.downstream])
            now = shared(was.connections, movable(problem, number, traffic, loads[pair.downstream]), settings)
        placed[number] = now
        down.brings(number, realized(pair, now, sent))
    return placed, flow(problem, placed)[0] if problem.cut else down.work, changes


def _close(now: Floats, previous: Floats | None) -> bool:
    return previous is not None and bool(np.abs(now - previous).max() <= CLOSE * previous.mean())
