"""Prints LearnedEvidence: the values that the pool's agent gives each size."""

from collections.abc import Iterator

import click

from sluice.cli.pools.text import moment
from sluice.cli.table import columns, print_table
from sluice.pools.v1.evidence_pb2 import LearnedCondition, LearnedEvidence, SizeValue

_SIZES = columns("SIZE>", "Q>", "REWARD>", "ERROR>", "SECONDS>", "")


def learned_facts(of: LearnedEvidence) -> Iterator[tuple[str, str]]:
    yield "agent", f"{of.steps:,} gradient steps, {of.transitions:,} transitions remembered"
    state = f"TPR {of.throughput_ratio:.2f}, LR {of.latency_ratio:.2f}, RU {of.utilization:.2f}"
    yield "its state", f"{state} at {moment(of.until):%H:%M:%S} UTC"
    yield "its condition", ", ".join(_condition(of.condition)) or "not known"
    yield "checkpoint", _checkpoint(of)


def print_learned(of: LearnedEvidence) -> None:
    click.echo("\nQ by size in the present state; reward of a second at that size, at the present demand")
    best = max(of.values, key=lambda value: value.q, default=None)
    print_table(_SIZES, (_row(value, value is best) for value in of.values))


def _condition(of: LearnedCondition) -> Iterator[str]:
    if of.HasField("cpu_limit_cores"):
        yield f"{of.cpu_limit_cores:g} cores"
    if of.HasField("peer_cpu_limit_cores"):
        yield f"{of.peer_cpu_limit_cores:g} cores of its peer"
    if of.versions:
        yield f"version {of.versions}"
    if of.HasField("work_ms"):
        yield f"{of.work_ms:.3g} ms of work a request"
    if of.HasField("rows"):
        yield f"{of.rows:,.1f} rows a span"
    if of.HasField("bytes"):
        yield f"{of.bytes:,.0f} bytes a span"


def _checkpoint(of: LearnedEvidence) -> str:
    if not of.HasField("checkpoint"):
        return "none yet"
    checkpoint = of.checkpoint
    return (
        f"{checkpoint.name} of {moment(checkpoint.at):%Y-%m-%d %H:%M:%S} UTC, {checkpoint.steps:,} steps, sha256 "
        f"{checkpoint.sha256[:12]}"
    )


def _row(value: SizeValue, best: bool) -> tuple[str, ...]:
    tried = value.seconds > 0
    reward, error = (f"{value.reward:.3f}", f"{value.error:.3f}") if tried else ("-", "-")
    return f"{value.size}", f"{value.q:.3f}", reward, error, f"{value.seconds:,.0f}", "< highest Q" if best else ""
