"""Solves an application once with a strategy, and predicts the latency of the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sluice.subsets.application import Application
from sluice.subsets.churn import NamedConnections, churn, named_connections
from sluice.subsets.connections import flow
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.settings import MicronsSettings, NumberRule
from sluice.subsets.predict import all_curves, predict
from sluice.subsets.problem import Problem, problem
from sluice.subsets.sample_range import range_notes
from sluice.subsets.solution import Predicted, Solution
from sluice.subsets.strategy import MICRONS, rival


@dataclass(frozen=True, eq=False)
class StrategyResult:
    """predicted: None where there are no latency samples. basis: by service, the kind of its latency model. churn:
    against `previous`; 0 without it."""

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
    previous: NamedConnections | None = None,
) -> StrategyResult:
    """`previous`: the connections in force, from which Microns goes on.

    Raises:
        IllegalError: the application is not legal; the message names the problems and the legal values.
        TooManyError: the answer has too many connections.
    """
    solvable = problem(application)
    usual = float((solvable.rate_per_s / [len(fleet) for fleet in solvable.fleets]).mean())
    model = latency_model(samples, [fleet.service for fleet in solvable.fleets], usual)
    curves = all_curves(solvable, model)
    if strategy == MICRONS:
        from sluice.subsets.microns.carry import solve_on

        rule = NumberRule.KEEP if model.known else NumberRule.USUAL
        solution = solve_on(solvable, curves, replace(settings or MicronsSettings(), number=rule), previous)
    else:
        solution = rival(strategy)(solvable)
    predicted = predict(solvable, curves, solution.subsets)
    return StrategyResult(
        solvable,
        solution,
        predicted if model.known else None,
        {fleet.service: model.of(fleet.service).basis for fleet in solvable.fleets},
        (*model.notes, *solution.notes, *range_notes(solvable, curves, flow(solvable, solution.subsets)[0])),
        churn(previous, named_connections(solvable, solution)) if previous is not None else 0.0,
    )
