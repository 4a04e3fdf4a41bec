"""Prints the evidence behind a pair's connections."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sluice.cli.output import say
from sluice.cli.pools.text import moment, seconds
from sluice.cli.table import columns, print_table
from sluice.subsets.v1.explanation_pb2 import Adoption, ContainerLoad, PairExplanation, Run
from sluice.subsets.v1.subset_service_pb2 import ExplainPairResponse

#: The most callers that the text names; `-o json` has up to 1,000.
NAMED = 20
_COLUMNS = columns("CONTAINER", "HOST", "CPU>", "MEMORY>", "NETWORK>", "CALLS/S>", "BEST>", "LATENCY>", "CALLERS>")


def print_explanation(answer: ExplainPairResponse, now: datetime) -> None:
    """Prints the pair, the run that solved it, and a line a downstream container; `now` (with time zone) gives ages."""
    pair = answer.explanation
    say(f"{pair.pair.upstream} -> {pair.pair.downstream}", "bold")
    facts = [*_pair(pair), *(_run(answer.run, now) if answer.HasField("run") else [])]
    for label, value in facts:
        say(f"{label:<16}{value}")
    print_table(_COLUMNS, (_row(container) for container in pair.containers))


def _pair(pair: PairExplanation) -> Iterator[tuple[str, str]]:
    yield "calls", f"{pair.rate_per_s:.4g} per second"
    yield "connections", f"{pair.quota}, legal: {pair.least} to {pair.most}"
    if pair.HasField("adoption"):
        yield from _adoption(pair.adoption)
    if pair.HasField("predicted_ms"):
        yield "latency", ", ".join(_latencies(pair))
    if pair.HasField("gradient_ms"):
        yield "one more", f"{pair.gradient_ms:+.3g} ms, of which {pair.reaches:.0%} reaches the end to end latency"
    elif pair.HasField("predicted_ms"):
        yield "one more", "not possible: fully connected"
    yield "latencies from", pair.basis or "-"
    if errors := _errors(pair):
        yield "error", errors


def _adoption(adoption: Adoption) -> Iterator[tuple[str, str]]:
    counts = f"{adoption.following} callers follow, {adoption.not_following} do not, {adoption.unknown} unknown"
    fixed = f"; {adoption.fixed_share:.0%} of the calls count as fixed" if adoption.fixed_share else ""
    yield "adoption", counts + fixed
    named = list(adoption.not_following_instances[:NAMED])
    if named:
        more = adoption.not_following - len(named)
        yield "not following", ", ".join(named) + (f" and {more} more" if more else "")


def _latencies(pair: PairExplanation) -> Iterator[str]:
    yield f"{pair.predicted_ms:.1f} ms"
    if pair.HasField("best_ms"):
        yield f"{pair.best_ms:.1f} ms with the best number of connections"
    if pair.HasField("fully_connected_ms"):
        yield f"{pair.fully_connected_ms:.1f} ms fully connected"


def _errors(pair: PairExplanation) -> str:
    """Errors on samples outside the model's training set; "" where too few samples could be held out."""
    errors = [f"the pair {pair.pair_error:.1%}"] if pair.HasField("pair_error") else []
    errors += [f"e^mu {pair.mu_error:.1%}"] if pair.HasField("mu_error") else []
    errors += [f"sigma {pair.sigma_error:.1%}"] if pair.HasField("sigma_error") else []
    samples = f"{pair.held_out_samples} samples" if pair.held_out_samples else "samples"
    return f"{', '.join(errors)}, on {samples} outside the training set" if errors else ""


def _run(run: Run, now: datetime) -> Iterator[tuple[str, str]]:
    age = f", {seconds((now - moment(run.at)).total_seconds())} ago" if run.HasField("at") else ""
    yield "solved", f"by {run.strategy or '-'} for {run.cause or '-'}{age}"
    ended = "" if run.converged else ", not converged"
    yield "", f"{run.iterations} iterations{ended}, {run.quota} connections in all, {run.churn:.1%} changed"
    for service in run.missing:
        yield "missing", service
    for note in run.notes:
        yield "note", note


def _row(container: ContainerLoad) -> tuple[str, ...]:
    return (
        container.instance,
        container.host or "-",
        f"{container.cpu:.0%}",
        f"{container.memory_bandwidth:.0%}",
        f"{container.network:.0%}",
        f"{container.rate_per_s:.4g}",
        f"{container.best_rate_per_s:.4g}",
        f"{container.latency_ms:.1f} ms" if container.HasField("latency_ms") else "-",
        str(container.connections),
    )
