"""Prints the evidence behind a pair's connections."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sluice.cli.output import say
from sluice.cli.pools.text import moment, seconds
from sluice.cli.table import columns, print_table
from sluice.subsets.v1.explanation_pb2 import ContainerLoad, PairExplanation, Run
from sluice.subsets.v1.subset_service_pb2 import ExplainPairResponse

_COLUMNS = columns("CONTAINER", "HOST", "CPU>", "MEMORY>", "NETWORK>", "CALLS/S>", "BEST>", "LATENCY>", "CALLERS>")


def print_explanation(answer: ExplainPairResponse, now: datetime) -> None:
    """Prints the pair, the run that solved it, and a line a downstream container; `now` (with time zone) gives ages."""
    one = answer.explanation
    say(f"{one.pair.upstream} -> {one.pair.downstream}", "bold")
    facts = [*_pair(one), *(_run(answer.run, now) if answer.HasField("run") else [])]
    for label, value in facts:
        say(f"{label:<16}{value}")
    print_table(_COLUMNS, (_row(container) for container in one.containers))


def _pair(one: PairExplanation) -> Iterator[tuple[str, str]]:
    yield "calls", f"{one.rate_per_s:.4g} per second"
    yield "connections", f"{one.quota}, legal: {one.least} to {one.most}"
    if one.HasField("predicted_ms"):
        yield "latency", ", ".join(_latencies(one))
    if one.HasField("gradient_ms"):
        yield "one more", f"{one.gradient_ms:+.3g} ms, of which {one.reaches:.0%} reaches the end to end latency"
    elif one.HasField("predicted_ms"):
        yield "one more", "not possible: fully connected"
    yield "latencies from", one.basis or "-"
    if errors := _errors(one):
        yield "error", errors


def _latencies(one: PairExplanation) -> Iterator[str]:
    yield f"{one.predicted_ms:.1f} ms"
    if one.HasField("best_ms"):
        yield f"{one.best_ms:.1f} ms with the best number of connections"
    if one.HasField("fully_connected_ms"):
        yield f"{one.fully_connected_ms:.1f} ms fully connected"


def _errors(one: PairExplanation) -> str:
    """Errors on samples outside the model's training set; "" where too few samples could be held out."""
    errors = [f"the pair {one.pair_error:.1%}"] if one.HasField("pair_error") else []
    errors += [f"e^mu {one.mu_error:.1%}"] if one.HasField("mu_error") else []
    errors += [f"sigma {one.sigma_error:.1%}"] if one.HasField("sigma_error") else []
    of = f"{one.held_out_samples} samples" if one.held_out_samples else "samples"
    return f"{', '.join(errors)}, on {of} outside the training set" if errors else ""


def _run(run: Run, now: datetime) -> Iterator[tuple[str, str]]:
    age = f", {seconds((now - moment(run.at)).total_seconds())} ago" if run.HasField("at") else ""
    yield "solved", f"by {run.strategy or '-'} for {run.cause or '-'}{age}"
    ended = "" if run.converged else ", not converged"
    yield "", f"{run.iterations} iterations{ended}, {run.quota} connections in all, {run.churn:.1%} changed"
    for service in run.missing:
        yield "missing", service
    for note in run.notes:
        yield "note", note


def _row(one: ContainerLoad) -> tuple[str, ...]:
    return (
        one.instance,
        one.host or "-",
        f"{one.cpu:.0%}",
        f"{one.memory_bandwidth:.0%}",
        f"{one.network:.0%}",
        f"{one.rate_per_s:.4g}",
        f"{one.best_rate_per_s:.4g}",
        f"{one.latency_ms:.1f} ms" if one.HasField("latency_ms") else "-",
        str(one.connections),
    )
