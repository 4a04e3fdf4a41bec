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
from sluice.subsets.document.solution import solution_object
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.settings import NumberRule
from sluice.subsets.microns.solve import solve
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


def strategy(name: str, samples: str = "") -> Strategy:
    """``samples``: CSV that latencies are learnt from. Where the application sets no quota, Microns chooses the number
    of connections, and the rivals get ``as_many``."""

    def solution(application: dict[str, Any]) -> Solution:
        text = json.dumps(application)
        if name == MICRONS:
            return _microns(text, samples)
        document = read_application(application)
        given = document.application
        if name != FULL and given.quota is None:
            given = replace(given, quota=as_many(_microns(text, samples), problem(given)))
        return Solution.model_validate(solution_object(answer(given, name, {})))

    return solution


@lru_cache(maxsize=8)
def _microns(application: str, samples: str) -> Solution:
    document = read_application(json.loads(application))
    posed = problem(document.application)
    curves = all_curves(posed, learnt(samples, tuple(fleet.service for fleet in posed.fleets)))
    rule = NumberRule.KEEP if samples else NumberRule.USUAL
    solved = solve(posed, curves, replace(document.settings, number=rule))
    predicted = predict(posed, curves, solved.solution.subsets)
    return Solution.model_validate(solution_object(StrategyResult(posed, solved.solution, predicted, {}, (), 0.0)))


def as_many(ours: Solution, posed: Problem) -> int:
    """A quota of whole connections for each upstream container, the next number from Microns' mean on: rivals give all
    the same number, and rounding down would give them fewer. Worked: 22 connections of 8: 3 each, 24."""
    callers = sum(len(pair.most) for pair in posed.pairs)
    return callers * ceil(ours.connections / callers)


@cache
def learnt(samples: str, services: tuple[str, ...]) -> LatencyModel:
    """Trained once a process: what ``answer`` does, which trains every time."""
    return latency_model(read_samples(io.StringIO(samples), "samples") if samples else {}, services)
