"""Solves an application once with a strategy, and predicts the latency of the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.subsets.application import Application
from sluice.subsets.churn import NamedConnections, churn, named_connections
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.predict import all_curves, predict
from sluice.subsets.problem import Problem, problem
from sluice.subsets.solution import Predicted, Solution
from sluice.subsets.strategy import MICRONS, rival


@dataclass(frozen=True, eq=False)
class StrategyResult:
    """predicted: None where there are no latency samples. basis: by service, the kind of its latency model. churn:
    against `before`; 0 without it."""

    problem: Problem
    solution: Solution
    predicted: Predicted | None
    basis: Mapping[str, str]
    notes: tuple[str, ...]
    churn: float


def answer(
    application: Application,
    strategy: str,
    samples: Mapping[str, LatencySamples],
    settings: MicronsSettings | None = None,
    before: NamedConnections | None = None,
) -> StrategyResult:
    """`before`: the connections in force, from which Microns goes on.

    Raises:
        IllegalError: the application is not legal; the message names the problems and the legal values.
        TooManyError: the answer has too many connections.
    """
    asked = problem(application)
    usual = float((asked.rate_per_s / [len(each) for each in asked.fleets]).mean())
    model = latency_model(samples, [each.service for each in asked.fleets], usual)
    curves = all_curves(asked, model)
    if strategy == MICRONS:
        from sluice.subsets.microns.carry import solve_on

        found = solve_on(asked, curves, settings or MicronsSettings(), before)
    else:
        found = rival(strategy)(asked)
    predicted = predict(asked, curves, found.subsets)
    return StrategyResult(
        asked,
        found,
        predicted if model.known else None,
        {each.service: model.of(each.service).basis for each in asked.fleets},
        (*model.notes, *found.notes),
        churn(before, named_connections(asked, found)) if before is not None else 0.0,
    )
