"""The number of connections where no quota is set.

A connection has a cost of its own on both sides: a file descriptor, buffers, keepalives, a handshake after each change,
and calls that are spread over more and colder pools. No latency model shows this cost, so a solution has the fewest
connections with which its predicted latency is as good as with any number.

A solution that continues an earlier one keeps the number. It rises where the prediction is worse than NEAR, and falls
where the prediction stays better than FALLS. Both take from the churn budget, so a number between the two stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sluice.subsets.application import USUAL
from sluice.subsets.connections import Connections
from sluice.subsets.fleet import Ints
from sluice.subsets.microns.loop import BETTER, NEAR, latency_of, loop, unlimited
from sluice.subsets.microns.previous import PreviousConnections
from sluice.subsets.microns.reference import Optimum
from sluice.subsets.microns.settings import MicronsSettings, NumberRule
from sluice.subsets.problem import Problem, usual
from sluice.subsets.quotas import bounded

# The ratio of one number that is tried to the one before.
FACTOR = 1.1
# How often the distance to the number before is halved then: the number is within 2.5 % of the fewest.
HALVINGS = 2
# A number falls only where the latency stays within this part of that of unlimited connections: half of NEAR's.
FALLS = 1 + (NEAR - 1) / 2


def fewest(optimum: Optimum, settings: MicronsSettings) -> int:
    """The fewest connections of a new solution with a latency within NEAR of that of unlimited connections. Where
    `usual` many do not reach it, within NEAR of the best latency that any number tried gives."""
    problem, near = optimum.problem, unlimited(optimum) * NEAR
    tried: dict[int, float] = {}

    def latency(number: int) -> float:
        if number not in tried:
            tried[number] = latency_of(optimum, loop(with_number(optimum, number), settings)[0])
        return tried[number]

    steps = numbers(sum(pair.fewest for pair in problem.pairs), usual(problem.pairs))
    found = next((number for number in steps if latency(number) <= near), None)
    if found is None:
        near = min(tried.values()) * NEAR
        found = next(number for number in steps if tried[number] <= near)
    below = max((number for number in steps if number < found), default=found)
    for _ in range(HALVINGS):
        middle = (below + found) // 2
        if middle > below and latency(middle) <= near:
            found = middle
        else:
            below = middle
    return found


def numbers(least: int, most: int) -> list[int]:
    """The numbers to try, from `least` to `most`, each FACTOR times the one before. Worked: 10 to 14: 10, 11, 13, 14
    (11 * 1.1 = 12.1, rounded up)."""
    steps = [least]
    while steps[-1] < most:
        steps.append(min(most, int(np.ceil(steps[-1] * FACTOR - 1e-9))))
    return steps


def with_number(optimum: Optimum, number: int) -> Optimum:
    return replace(optimum, problem=replace(optimum.problem, quota=number))


def kept_number(problem: Problem, kept: Sequence[PreviousConnections | None]) -> int:
    """The number of a solution that continues `kept`, up to the problem's quota.

    A pair whose containers came or went keeps its ratio to the fewest legal connections. One that was fully connected,
    and shows no ratio, has USUAL for each upstream container. A new pair has the ratio of the others. Worked: 20
    connections of 8 callers with 2 each at least; with 12 callers: 20 * 24 / 16 = 30.
    """
    ratios = [was for was in kept if was is not None and was.quota < was.all]
    ratio = sum(was.quota for was in ratios) / max(sum(was.fewest for was in ratios), 1)
    total = 0
    for pair, was in zip(problem.pairs, kept, strict=True):
        wanted = USUAL * len(pair.most)
        if was is not None and not was.touched:
            wanted = was.quota
        elif was is not None and was.quota < was.all:
            wanted = round(was.quota * pair.fewest / was.fewest)
        elif was is None and ratios:
            wanted = round(ratio * pair.fewest)
        total += min(max(wanted, pair.fewest), pair.all)
    return min(total, problem.quota)


def renumbered(
    optimum: Optimum,
    placed: list[Connections],
    budget: int,
    settings: MicronsSettings,
    place: Callable[[Ints], list[Connections]],
) -> list[Connections]:
    """The connections with another number, or `placed` where the number stays. place: continues with other quotas."""
    quota, least = np.array([len(one) for one in placed]), np.array([pair.fewest for pair in optimum.problem.pairs])
    latency, floor = latency_of(optimum, placed), unlimited(optimum)
    if latency > floor * NEAR:
        rises = settings.number in (NumberRule.RISE, NumberRule.MOVE)
        wanted = _more(optimum, latency, quota, budget, settings) if rises else quota
        return place(wanted) if wanted.sum() > quota.sum() else placed
    if settings.number is not NumberRule.MOVE or not budget or (quota <= least).all():
        return placed
    gone = bounded((quota - least).astype(np.float64), np.zeros_like(quota), quota - least, budget)
    fell = place(quota - gone)
    return fell if latency_of(optimum, fell) <= floor * FALLS else placed


def _more(optimum: Optimum, latency: float, quota: Ints, budget: int, settings: MicronsSettings) -> Ints:
    """Quotas, (E,), with up to `budget` more connections, for the pairs to which a new solution gives more. They stay
    where more connections would make `latency` no better."""
    now = int(quota.sum())
    for number in numbers(now, usual(optimum.problem.pairs))[1:]:
        anew, _, _ = loop(with_number(optimum, number), settings)
        if latency_of(optimum, anew) < latency * BETTER:
            room = np.maximum(np.array([len(one) for one in anew]) - quota, 0)
            added = bounded(room.astype(np.float64), np.zeros_like(quota), room, min(number - now, budget))
            return np.asarray(quota + added)
    return quota


def note_on(problem: Problem) -> tuple[str, ...]:
    """A line for people about a number that is chosen."""
    most = usual(problem.pairs)
    if problem.rules.quota is not None or problem.quota >= most:
        return ()
    return (
        f"no quota is set: the solver chose {problem.quota} connections, by the predicted latency;"
        f" without a prediction it takes {most}",
    )
