"""Every strategy behind one interface: an application as its JSON object in, a solution out."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from sluice.subsets.document.application import read_application
from sluice.subsets.document.samples import read_samples
from sluice.subsets.document.solution import read_solution, solution_object
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.carry import solve_on
from sluice.subsets.predict import all_curves, predict
from sluice.subsets.problem import problem
from sluice.subsets.strategy_result import StrategyResult, answer
from testbed.mesh.solution import Solution

RIVALS = ("sre", "rocksteadier", "proportional", "aperture", "a68")
"""With as many connections as Microns has."""
FULL = "full"
MICRONS = "microns"
Strategy = Callable[[dict[str, Any]], Solution]
"""From an application, as ``Application.public`` gives it, to its solution."""
Following = Callable[[dict[str, Any], Solution | None], Solution]
"""From an application and the solution in force to the next solution."""
Mistake = Callable[[Curves], Curves]


def strategy(name: str, samples: str = "", mistake: Mistake | None = None) -> Strategy:
    """``samples``: CSV that latencies are learnt from. ``mistake``: changes the curves that the solver has."""
    follow = following(name, samples, mistake)
    return lambda application: follow(application, None)


def following(name: str, samples: str = "", mistake: Mistake | None = None) -> Following:
    """As ``strategy``. Microns goes on from the solution in force, and its quotas follow, as in the decider."""

    def solution(application: dict[str, Any], before: Solution | None) -> Solution:
        document = read_application(application)
        if name != MICRONS:
            return Solution.model_validate(solution_object(answer(document.application, name, {})))
        posed = problem(document.application)
        curves = all_curves(posed, learnt(samples, tuple(fleet.service for fleet in posed.fleets)))
        curves = curves if mistake is None else [mistake(of_service) for of_service in curves]
        settings = replace(document.settings, quotas_follow=before is not None)
        previous = None if before is None else read_solution(before.model_dump(by_alias=True))
        result = solve_on(posed, curves, settings, previous)
        predicted = predict(posed, curves, result.subsets)
        return Solution.model_validate(solution_object(StrategyResult(posed, result, predicted, {}, (), 0.0)))

    return solution


@cache
def learnt(samples: str, services: tuple[str, ...]) -> LatencyModel:
    """Trained once a process: what ``answer`` does, which trains every time."""
    return latency_model(read_samples(io.StringIO(samples), "samples") if samples else {}, services)
