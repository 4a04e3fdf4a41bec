"""Prints a solution as a table: a line a pair, and totals."""

from __future__ import annotations

from typing import Any

from sluice.cli.output import say
from sluice.cli.table import columns, print_table
from sluice.subsets.churn import NamedConnections, changed, named_connections
from sluice.subsets.strategy_result import StrategyResult


def print_solution(result: StrategyResult, shown: dict[str, Any], previous: NamedConnections | None) -> None:
    """`shown`: the solution's JSON object. `previous`: the solution to compare with."""
    moved = changed(previous, named_connections(result.problem, result.solution)) if previous is not None else {}
    compared = previous is not None
    names = ["PAIR~", "CALLS/S>", "CONTAINERS>", "QUOTA>", "EACH>", "PREDICTED>", "CHANGED>", "LATENCIES FROM~"]
    print_table(
        columns(*(name for name in names if compared or name != "CHANGED>")),
        [_row(result, number, shown, moved, compared) for number in range(len(shown["pairs"]))],
    )
    problem = result.problem
    percentile = f"p{100 * problem.percentile:g}"
    latency = "unknown" if shown["predicted_ms"] is None else f"{shown['predicted_ms']:.1f} ms"
    say("")
    say(
        f"{shown['strategy']}: {percentile} {latency}, {shown['connections']} connections of"
        f" {sum(pair.all for pair in problem.pairs)}, {shown['iterations']} iterations"
        + (f", {shown['churn']:.1%} changed" if compared else ""),
        "bold",
    )
    for root in shown["roots"] if len(shown["roots"]) > 1 else []:
        say(f"{root['name']}: {percentile} {root['predicted_ms']:.1f} ms")


def _row(
    result: StrategyResult, number: int, shown: dict[str, Any], moved: dict[tuple[str, str], int], compared: bool
) -> list[str]:
    problem, pair, solved = result.problem, result.problem.pairs[number], shown["pairs"][number]
    sizes = result.solution.subsets[number].sizes()
    size_range = f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
    predicted = solved["predicted_ms"]
    return [
        problem.name(pair),
        f"{pair.rate_per_s:.4g}",
        f"{len(pair.most)} -> {pair.containers}",
        str(solved["quota"]),
        size_range,
        "unknown" if predicted is None else f"{predicted:.1f} ms",
        *([str(moved.get((solved["upstream"], solved["downstream"]), 0))] if compared else []),
        result.basis[solved["downstream"]],
    ]
