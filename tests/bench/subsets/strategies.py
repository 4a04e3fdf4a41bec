"""Every strategy behind one interface: an application as its JSON object in, a solution out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from math import ceil
from typing import Any

from sluice.subsets.document.application import read_application
from sluice.subsets.document.samples import read_samples
from sluice.subsets.document.solution import read_solution, solution_object
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.carry import solve_on
from sluice.subsets.microns.settings import NumberRule
from sluice.subsets.predict import all_curves, predict
from sluice.subsets.problem import Problem, problem
from sluice.subsets.strategy_result import StrategyResult, answer
from testbed.mesh.solution import Solution

RIVALS = ("sre", "rocksteadier", "proportional", "aperture", "a68")
"""With at least as many connections as Microns has."""
FULL = "full"
MICRONS = "microns"
Strategy = Callable[[dict[str, Any]], Solution]
"""From an application, as ``Application.public`` gives it, to its solution."""
Following = Callable[[dict[str, Any], Solution | None], Solution]
"""From an application and the solution in force to the next solution."""
Mistake = Callable[[Curves], Curves]


def strategy(name: str, samples: str = "", mistake: Mistake | None = None) -> Strategy:
    """``samples``: CSV that latencies are learnt from. ``mistake``: changes the curves that Microns has. Where the
    application sets no quota, Microns chooses the number of connections, and the rivals get ``as_many``."""

    def solution(application: dict[str, Any]) -> Solution:
        text = json.dumps(application)
        if name == MICRONS:
            return _microns(text, samples) if mistake is None else _solution(application, samples, None, mistake)
        given = read_application(application).application
        if name != FULL and given.quota is None:
            given = replace(given, quota=as_many(_microns(text, samples), problem(given)))
        return Solution.model_validate(solution_object(answer(given, name, {})))

    return solution


def following(name: str, samples: str = "") -> Following:
    """As ``strategy``. Microns goes on from the solution in force, and its quotas follow, as in the decider."""
    first = strategy(name, samples)

    def solution(application: dict[str, Any], before: Solution | None) -> Solution:
        if name != MICRONS or before is None:
            return first(application)
        return _solution(application, samples, before)

    return solution


@lru_cache(maxsize=8)
def _microns(application: str, samples: str) -> Solution:
    return _solution(json.loads(application), samples)


def _solution(
    application: dict[str, Any], samples: str, before: Solution | None = None, mistake: Mistake | None = None
) -> Solution:
    document = read_application(application)
    posed = problem(document.application)
    curves = all_curves(posed, learnt(samples, tuple(fleet.service for fleet in posed.fleets)))
    curves = curves if mistake is None else [mistake(of_service) for of_service in curves]
    number = NumberRule.KEEP if samples else NumberRule.USUAL
    settings = replace(document.settings, quotas_follow=before is not None, number=number)
    previous = None if before is None else read_solution(before.model_dump(by_alias=True))
    result = solve_on(posed, curves, settings, previous)
    predicted = predict(posed, curves, result.subsets)
    return Solution.model_validate(solution_object(StrategyResult(posed, result, predicted, {}, (), 0.0)))


def as_many(ours: Solution, posed: Problem) -> int:
    """A quota of whole connections for each upstream container, the next number from Microns' mean on: rivals give all
    the same number, and rounding down would give them fewer. Worked: 22 connections of 8: 3 each, 24."""
    callers = sum(len(pair.most) for pair in posed.pairs)
    return callers * ceil(ours.connections / callers)


@cache
def learnt(samples: str, services: tuple[str, ...]) -> LatencyModel:
    """Trained once a process: what ``answer`` does, which trains every time."""
    return latency_model(read_samples(io.StringIO(samples), "samples") if samples else {}, services)
