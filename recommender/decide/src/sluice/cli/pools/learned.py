"""Prints LearnedEvidence: the values that the pool's agent gives each size."""

from collections.abc import Iterator

import click

from sluice.cli.pools.text import moment
from sluice.cli.table import columns, print_table
from sluice.pools.v1.evidence_pb2 import LearnedCondition, LearnedEvidence, SizeValue

_SIZES = columns("SIZE>", "Q>", "REWARD>", "ERROR>", "SECONDS>", "")


def learned_facts(evidence: LearnedEvidence) -> Iterator[tuple[str, str]]:
    yield "agent", f"{evidence.steps:,} gradient steps, {evidence.transitions:,} transitions remembered"
    state = f"TPR {evidence.throughput_ratio:.2f}, LR {evidence.latency_ratio:.2f}, RU {evidence.utilization:.2f}"
    yield "its state", f"{state} at {moment(evidence.until):%H:%M:%S} UTC"
    yield "its condition", ", ".join(_condition(evidence.condition)) or "not known"
    yield "checkpoint", _checkpoint(evidence)


def print_learned(evidence: LearnedEvidence) -> None:
    click.echo("\nQ by size in the present state; reward of a second at that size, at the present demand")
    best = max(evidence.values, key=lambda value: value.q, default=None)
    print_table(_SIZES, (_row(value, value is best) for value in evidence.values))


def _condition(condition: LearnedCondition) -> Iterator[str]:
    if condition.HasField("cpu_limit_cores"):
        yield f"{condition.cpu_limit_cores:g} cores"
    if condition.HasField("peer_cpu_limit_cores"):
        yield f"{condition.peer_cpu_limit_cores:g} cores of its peer"
    if condition.versions:
        yield f"version {condition.versions}"
    if condition.HasField("work_ms"):
        yield f"{condition.work_ms:.3g} ms of work a request"
    if condition.HasField("rows"):
        yield f"{condition.rows:,.1f} rows a span"
    if condition.HasField("bytes"):
        yield f"{condition.bytes:,.0f} bytes a span"


def _checkpoint(evidence: LearnedEvidence) -> str:
    if not evidence.HasField("checkpoint"):
        return "none yet"
    checkpoint = evidence.checkpoint
    return (
        f"{checkpoint.name} of {moment(checkpoint.at):%Y-%m-%d %H:%M:%S} UTC, {checkpoint.steps:,} steps, sha256 "
        f"{checkpoint.sha256[:12]}"
    )


def _row(value: SizeValue, best: bool) -> tuple[str, ...]:
    tried = value.seconds > 0
    reward, error = (f"{value.reward:.3f}", f"{value.error:.3f}") if tried else ("-", "-")
    return f"{value.size}", f"{value.q:.3f}", reward, error, f"{value.seconds:,.0f}", "< highest Q" if best else ""
