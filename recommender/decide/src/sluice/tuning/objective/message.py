"""Converts objectives, windows and outcomes to and from messages (proto/sluice/tuning/v1/objective.proto,
trial.proto)."""

from __future__ import annotations

from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.enough import TrialLength
from sluice.tuning.objective.objective import Objective, TuningSlo
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.v1 import objective_pb2, trial_pb2

_METRICS = {metric: objective_pb2.Metric.Value(f"METRIC_{metric.value.upper()}") for metric in Metric}
_VERDICTS = {verdict: trial_pb2.Verdict.Value(f"VERDICT_{verdict.name}") for verdict in TrialVerdict}


class UnknownError(ValueError):
    """An enum number without a meaning here. The message names the field and the legal values."""


def write_objective(objective: Objective) -> objective_pb2.Objective:
    kinds = objective_pb2.Objective
    return kinds(
        terms=[kinds.Term(metric=_METRICS[metric], weight=weight) for metric, weight in objective.weights],
        slos=[kinds.Slo(metric=_METRICS[slo.metric], limit=slo.limit) for slo in objective.slos],
        threshold_ms=objective.threshold_ms,
    )


def read_objective(message: objective_pb2.Objective) -> Objective:
    """UnknownError for an unknown metric."""
    return Objective(
        tuple((_metric(term.metric, f"objective.terms[{at}]"), term.weight) for at, term in enumerate(message.terms)),
        tuple(
            TuningSlo(_metric(slo.metric, f"objective.slos[{at}]"), slo.limit) for at, slo in enumerate(message.slos)
        ),
        message.threshold_ms if message.HasField("threshold_ms") else None,
    )


def write_window(window: TrialLength) -> objective_pb2.Window:
    return objective_pb2.Window(
        warm_up_s=window.warm_up_s, least_s=window.least_s, most_s=window.most_s, precision=window.precision
    )


def read_window(message: objective_pb2.Window) -> TrialLength:
    return TrialLength(message.warm_up_s, message.least_s, message.most_s, message.precision)


def write_outcome(outcome: Outcome) -> trial_pb2.Outcome:
    return trial_pb2.Outcome(
        verdict=_VERDICTS[outcome.verdict],
        value=outcome.value,
        lower=outcome.lower,
        upper=outcome.upper,
        excess=outcome.excess,
        why=outcome.why,
    )


def read_outcome(message: trial_pb2.Outcome) -> Outcome:
    """UnknownError for an unknown verdict. `outcome.problem` checks the numbers."""
    verdicts = {number: verdict for verdict, number in _VERDICTS.items()}
    if message.verdict not in verdicts:
        legal = ", ".join(verdict.name for verdict in TrialVerdict)
        raise UnknownError(f"outcome.verdict: {message.verdict} is not legal; legal: {legal}")
    return Outcome(
        verdicts[message.verdict],
        message.value if message.HasField("value") else None,
        message.lower if message.HasField("lower") else None,
        message.upper if message.HasField("upper") else None,
        message.excess,
        message.why,
    )


def _metric(number: int, where: str) -> Metric:
    metrics: dict[int, Metric] = {known: metric for metric, known in _METRICS.items()}
    if number not in metrics:
        legal = ", ".join(metric.value for metric in Metric)
        raise UnknownError(f"{where}.metric: {number} is not legal; legal: {legal}")
    return metrics[number]
