"""Connection subsetting (Microns, Algorithm 1): quotas, connections and latencies in turns, until nothing improves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.subsets.chance import seed
from sluice.subsets.connections import Connections, Downwards, flow, realized
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.latency.curves import Curves
from sluice.subsets.microns.adjust import adjusted, gradients
from sluice.subsets.microns.improve import closest, settled
from sluice.subsets.microns.orchestrate import orchestrate
from sluice.subsets.microns.reference import Optimum, Reference, back, references, target_of
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.traffic import movable, traffic_of
from sluice.subsets.microns.zone_swaps import swapped
from sluice.subsets.predict import pair_latency
from sluice.subsets.problem import Problem
from sluice.subsets.quotas import bounded, first_quotas
from sluice.subsets.solution import Solution
from sluice.subsets.strategy import MICRONS
from sluice.subsets.trees import end_to_end_latency, parts

# The loop ends at a latency that is this near to the bound that no quota can improve on. A new latency counts as better
# only below this part of the best one: no model tells nearer ones apart, and quotas stay as even as they were.
NEAR = 1.005
BETTER = 0.995
MOST_ITERATIONS = 100
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
    """Solves from nothing. `curves`: of each service's containers. aim: None to aim at the best loads."""
    loads = references(problem, curves, [None] * len(problem.fleets), settings.balance)
    loads = loads if aim is None else aim(problem, loads)
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
    notes = list(problem.notes)
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


def loop(optimum: Optimum, settings: MicronsSettings) -> tuple[list[Connections], int, bool]:
    """The best subsets, the number of iterations, and whether the loop ended by itself."""
    problem = optimum.problem
    least = np.array([pair.fewest for pair in problem.pairs])
    most = np.array([pair.all for pair in problem.pairs])
    floor = unlimited(optimum)
    quota = first_quotas(problem)
    best, since = np.inf, 0
    best_subsets: list[Connections] = []
    last: tuple[Floats, Ints] | None = None
    gradient = np.zeros(len(quota))
    for iteration in range(1, MOST_ITERATIONS + 1):
        subsets, work, got = place_all(problem, optimum.loads, quota, settings.weights)
        latency, _ = pair_latency(problem, optimum.curves, work, got)
        now = end_to_end_latency(problem.trees, latency)
        since += 1
        if now < best * BETTER:
            best, best_subsets, since = now, subsets, 0
        if since >= settings.stagnation or best <= floor * NEAR or (least == most).all():
            return best_subsets, iteration, True
        # No change was measured before the first one: assume that latency is in proportion to 1 / quota.
        gradient = -latency / quota if last is None else gradients(latency, last[0], quota, last[1], gradient)
        last = latency, quota
        reaching = gradient * parts(problem.trees, latency)
        quota = adjusted(reaching, quota, least, most, problem.quota, settings.learning_rate)
    return best_subsets, MOST_ITERATIONS, False


def place_all(
    problem: Problem, loads: Sequence[Reference], quota: Ints, weights: bool
) -> tuple[list[Connections], list[Floats], list[Floats]]:
    """Connections of all pairs, and the flow through them, as of `flow`."""
    down = Downwards(problem, back(problem, loads))
    placed: list[Connections] = [None] * len(quota)  # type: ignore[list-item]
    got: list[Floats] = [None] * len(quota)  # type: ignore[list-item]
    for number, pair, sent in down:
        sizes = bounded(wishes(sent, weights), pair.least, pair.most, int(quota[number]))
        placed[number] = place(problem, number, sent, sizes, loads[pair.downstream], weights)
        got[number] = realized(pair, placed[number], sent)
        down.brings(number, got[number])
    if problem.cut:
        return placed, *flow(problem, placed)
    return placed, down.work, got


def wishes(sent: Floats, weights: bool) -> Floats:
    """What the sizes of subsets are in proportion to, (U,): the calls (R_i of Microns, 5.3).

    With weights it is their square root. A container with four times the calls then needs only twice the connections
    for them, and takes fewer with it when it goes.
    """
    return np.asarray(np.sqrt(sent)) if weights else sent


def place(problem: Problem, number: int, sent: Floats, sizes: Ints, load: Reference, weights: bool) -> Connections:
    """Connections of one pair."""
    pair = problem.pairs[number]
    above, below = problem.fleets[pair.upstream], problem.fleets[pair.downstream]
    traffic = traffic_of(problem, number, sent, load)
    drawn_by = seed(above.service, below.service) >> 1
    placed = swapped(orchestrate(traffic, sizes, drawn_by, weights), traffic, weights)
    return closest(placed, movable(problem, number, traffic, load)) if weights else placed


def unlimited(optimum: Optimum) -> float:
    """The workload-weighted latency in ms with the optimal loads, for any number of connections."""
    problem, loads = optimum.problem, optimum.loads
    work = [load.load for load in loads]
    got = [target_of(problem, number, loads[pair.downstream]) for number, pair in enumerate(problem.pairs)]
    latency, _ = pair_latency(problem, optimum.curves, work, got)
    return end_to_end_latency(problem.trees, latency)
