"""Writes a solution as a JSON object, and reads one to compare with or to continue from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sluice.subsets.churn import NamedConnections
from sluice.subsets.document.fields import Fields
from sluice.subsets.strategy_result import StrategyResult


def solution_object(answer: StrategyResult) -> dict[str, Any]:
    """The JSON object of a solution. Latencies are null where no samples exist to predict them from."""
    problem, solution, predicted = answer.problem, answer.solution, answer.predicted
    pairs = []
    for number, (pair, subsets) in enumerate(zip(problem.pairs, solution.subsets, strict=True)):
        up, down = problem.fleets[pair.upstream], problem.fleets[pair.downstream]
        sizes = subsets.sizes()[subsets.source()]
        ends = zip(subsets.source().tolist(), subsets.to.tolist(), (subsets.share * sizes).tolist(), strict=True)
        pairs.append(
            {
                "upstream": up.service,
                "downstream": down.service,
                "quota": len(subsets),
                "predicted_ms": _ms(predicted.pairs[number]) if predicted else None,
                "rate_per_s": round(pair.rate_per_s, 6),
                "connections": [
                    {"from": up.names[above], "to": down.names[below], "weight": round(weight, 4)}
                    for above, below, weight in ends
                ],
            }
        )
    return {
        "strategy": solution.strategy,
        "pairs": pairs,
        "predicted_ms": _ms(predicted.mean_ms) if predicted else None,
        "iterations": solution.iterations,
        "churn": round(answer.churn, 6),
        "roots": [{"name": name, "predicted_ms": _ms(value)} for name, value in predicted.roots.items()]
        if predicted
        else [],
        "connections": sum(len(subset) for subset in solution.subsets),
        "converged": solution.converged and (predicted is None or predicted.converged),
        "notes": list(answer.notes),
        "latency": dict(answer.basis),
    }


def _ms(value: float) -> float:
    return round(value, 4)


def read_solution(value: Mapping[str, Any]) -> NamedConnections:
    """The connections of each pair.

    Raises:
        IllegalError: a field is missing or has a wrong type; the message names its path and the legal type.
    """
    by_pair: NamedConnections = {}
    for pair in Fields(value, "").objects("pairs", needed=True):
        key = pair.text("upstream"), pair.text("downstream")
        ends = by_pair.setdefault(key, {})
        for connection in pair.objects("connections", needed=True):
            ends[connection.text("from"), connection.text("to")] = connection.number("weight", 1.0)
    return by_pair
