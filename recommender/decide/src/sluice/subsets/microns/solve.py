"""Connection subsetting (Microns, Algorithm 1): quotas, connections and latencies in turns, until nothing improves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sluice.subsets.fleet import Floats
from sluice.subsets.latency.curves import Curves
from sluice.subsets.microns.improve import settled
from sluice.subsets.microns.loop import MOST_ITERATIONS, loop
from sluice.subsets.microns.number import fewest, note_on
from sluice.subsets.microns.reference import Optimum, Reference, references
from sluice.subsets.microns.settings import MicronsSettings, NumberRule
from sluice.subsets.problem import Problem
from sluice.subsets.solution import Solution
from sluice.subsets.strategy import MICRONS

# A note names capacities that are exceeded by more; the error of fitted shares is smaller.
OVER = 0.01
# The most containers that a note names. It counts the rest.
NAMED = 3


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution with all arrays that the next one can continue from. work: calls per second of each service's
    containers."""

    problem: Problem
    curves: Sequence[Curves]
    references: Sequence[Reference]
    solution: Solution
    work: Sequence[Floats]


Aim = Callable[[Problem, list[Reference]], list[Reference]]
"""Computes the loads that connections aim at from the best loads."""


def solve(problem: Problem, curves: Sequence[Curves], settings: MicronsSettings, aim: Aim | None = None) -> Solved:
    """Solves from nothing. `curves`: of each service's containers. aim: None to aim at the best loads.

    A number of connections that no quota sets is chosen for the best loads, also where connections aim at others: loads
    go the rest of the way in steps, and the number should last.
    """
    best = references(problem, curves, [None] * len(problem.fleets), settings.balance)
    loads = best if aim is None else aim(problem, best)
    if problem.rules.quota is None and settings.number is not NumberRule.USUAL:
        problem = replace(problem, quota=fewest(Optimum(problem, curves, best), settings))
    optimum = Optimum(problem, curves, loads)
    subsets, iterations, converged = loop(optimum, settings)
    work = settled(optimum, subsets, settings)
    notes = notes_on(problem, loads, work)
    if not converged:
        notes.append(f"the loop did not end within {MOST_ITERATIONS} iterations; this is the best of them")
    solution = Solution(MICRONS, tuple(subsets), iterations, converged, tuple(notes))
    return Solved(problem, curves, loads, solution, work)


def notes_on(problem: Problem, loads: Sequence[Reference], work: Sequence[Floats]) -> list[str]:
    """Lines about capacities that do not suffice, or are exceeded. `work`: the loads of containers."""
    notes = [*problem.notes, *note_on(problem)]
    for fleet, reference, load in zip(problem.fleets, loads, work, strict=True):
        if not reference.fits:
            notes.append(f"{fleet.service}: the capacity_per_s of its containers is less than the calls to them")
            continue
        over = load / fleet.capacity_per_s - 1
        many = np.argsort(-over, kind="stable")[: int((over > OVER).sum())].tolist()
        if many:
            named = ", ".join(f"{fleet.names[at]} (by {over[at]:.0%})" for at in many[:NAMED])
            more = f" and {len(many) - NAMED} more" if len(many) > NAMED else ""
            notes.append(f"{fleet.service}: {named}{more} get more calls than capacity_per_s")
    return notes
