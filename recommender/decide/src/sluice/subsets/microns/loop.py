"""The loop of Microns, Algorithm 1: quotas, connections and latencies in turns, until nothing improves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sluice.subsets.chance import seed
from sluice.subsets.connections import Connections, Downwards, flow, realized
from sluice.subsets.fleet import Floats, Ints
from sluice.subsets.microns.adjust import adjusted, gradients
from sluice.subsets.microns.improve import closest
from sluice.subsets.microns.orchestrate import orchestrate
from sluice.subsets.microns.reference import Optimum, Reference, back, target_of
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.traffic import movable, traffic_of
from sluice.subsets.microns.zone_swaps import swapped
from sluice.subsets.predict import pair_latency
from sluice.subsets.problem import Problem
from sluice.subsets.quotas import bounded, first_quotas
from sluice.subsets.trees import end_to_end_latency, parts

# The loop ends at a latency that is this near to the bound that no quota can improve on. A new latency counts as better
# only below this part of the best one: no model tells nearer ones apart, and quotas stay as even as they were.
NEAR = 1.005
BETTER = 0.995
MOST_ITERATIONS = 100


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


def latency_of(optimum: Optimum, placed: Sequence[Connections]) -> float:
    """The workload-weighted latency in ms that these connections give."""
    work, got = flow(optimum.problem, placed)
    return end_to_end_latency(optimum.problem.trees, pair_latency(optimum.problem, optimum.curves, work, got)[0])
