"""Every strategy behind one interface: an application as its JSON object in, a solution out."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from typing import Any

from sluice.subsets import solution as subsets
from sluice.subsets.answer import Answer, answer
from sluice.subsets.churn import Named
from sluice.subsets.document.application import read_application
from sluice.subsets.document.samples import read_samples
from sluice.subsets.document.solution import read_solution, solution_object
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.carry import solve_on
from sluice.subsets.predict import all_curves, predict
from sluice.subsets.problem import Problem, problem
from sluice.subsets.solution import Predicted
from testbed.mesh.application import Application, Service
from testbed.mesh.dynamic import Strategy
from testbed.mesh.graph import flatten
from testbed.mesh.solution import Solution

RIVALS = ("sre", "rocksteadier", "proportional", "aperture", "a68")
"""With as many connections as Microns has."""
FULL = "full"
MICRONS = "microns"
PAPER = {"rocksteadier": 67.2, "proportional": 57.5, "full": 60.1}
"""By how many per cent Microns' 95th percentile is below theirs, mean of all settings (7.2.1). Its Rocksteadier is
described as ``sre`` is, and its Dynamic as ``proportional``."""


def strategy(
    name: str, samples: str = "", quota: Callable[[Application], int] | None = None, **microns: Any
) -> Strategy:
    """``samples``: CSV that latencies are learnt from; ``microns``: its settings, by the names of the file's keys."""

    def solve(application: dict[str, Any], before: Solution | None) -> Solution:
        if quota is not None:
            application = application | {"quota": quota(Application.model_validate(application))}
        document = read_application(application | {"microns": microns} if microns else application)
        if name != MICRONS:
            return Solution.model_validate(solution_object(answer(document.application, name, {})))
        asked = problem(document.application)
        curves = all_curves(asked, learnt(samples, tuple(each.service for each in asked.fleets)))
        found = solve_on(asked, curves, document.settings, _named(before))
        return solved(asked, found, predict(asked, curves, found.subsets))

    return solve


def _named(before: Solution | None) -> Named | None:
    return None if before is None else read_solution(before.model_dump(by_alias=True))


def solved(asked: Problem, found: subsets.Solution, predicted: Predicted) -> Solution:
    return Solution.model_validate(solution_object(Answer(asked, found, predicted, {}, (), 0.0)))


@cache
def learnt(samples: str, services: tuple[str, ...]) -> LatencyModel:
    """Trained once a process: what ``answer`` does, which trains every time."""
    return latency_model(read_samples(io.StringIO(samples), "samples") if samples else {}, services)


def per_upstream(count: int) -> Callable[[Application], int]:
    """So many connections for each upstream container, summed over the pairs, as Microns counts them, or the fewest
    that are legal."""

    def quota(application: Application) -> int:
        return max(_fewest(application), count * sum(len(up.containers) for up, _ in _pairs(application)))

    return quota


def of_full(share: float) -> Callable[[Application], int]:
    """That share of the connections of fully connected, or the fewest that are legal."""

    def quota(application: Application) -> int:
        counts = [(len(up.containers), len(down.containers)) for up, down in _pairs(application)]
        return max(_fewest(application), int(share * sum(up * down for up, down in counts)))

    return quota


def _fewest(application: Application) -> int:
    """With the least subsets, and everybody reached."""
    counts = [(len(up.containers), len(down.containers)) for up, down in _pairs(application)]
    return sum(max(up * min(application.min_subset, down), down) for up, down in counts)


def _pairs(application: Application) -> list[tuple[Service, Service]]:
    services = application.services
    return [(services[up], services[down]) for up, down in flatten(application).pairs]
