"""Prints an Explanation: the decision, its evidence, the curve."""

import sys
from collections.abc import Iterator
from datetime import datetime

import click

from sluice.cli.output import say
from sluice.cli.pools.belief import belief_facts, print_belief
from sluice.cli.pools.curve_plot import ASCII, UNICODE
from sluice.cli.pools.goodput_curve import curve_facts, print_curve
from sluice.cli.pools.occupancy import targets_tell
from sluice.cli.pools.selector import pool_name
from sluice.cli.pools.table import target
from sluice.cli.pools.text import (
    action,
    advice,
    age,
    basis_meaning,
    current,
    moment,
    optional,
    seconds,
    size_range,
    state_meaning,
)
from sluice.cli.printable import printable
from sluice.pools.v1.evidence_pb2 import (
    LATENCY_SOURCE_CALLER,
    LATENCY_SOURCE_OWN,
    Baseline,
    Explanation,
    LatencySource,
)
from sluice.pools.v1.pool_pb2 import SIDE_CLIENT
from sluice.pools.v1.pool_size_pb2 import PoolSize, TargetSize


def print_explanation(explanation: Explanation, now: datetime) -> None:
    for label, value in _facts(explanation, now):
        click.echo(click.style(f"{label:<16}", bold=True) + printable(value))
    reasons = explanation.pool_size.reasons
    say("reasons" if reasons else "reasons         none", style="bold" if reasons else "")
    for reason in reasons:
        say(f"  {reason.code}: {reason.text}")
    symbols = UNICODE if (sys.stdout.encoding or "").lower().startswith("utf") else ASCII
    if explanation.HasField("belief"):
        print_belief(explanation.belief, symbols)
    elif explanation.curve.points:
        print_curve(explanation.curve, symbols)
    else:
        click.echo("\nno curve yet: too little evidence")


def _facts(explanation: Explanation, now: datetime) -> Iterator[tuple[str, str]]:
    size = explanation.pool_size
    yield "pool", pool_name(size.pool)
    yield "state", state_meaning(size.state)
    yield "current", current(size)
    if len(size.sizes) > 1:
        yield "targets", ", ".join(map(_target_size, size.sizes))
    if text := targets_tell(size.sizes, now):
        yield "occupancy", text
    yield "target", target(size)
    yield "action", action(size)
    yield "basis", basis_meaning(size)
    yield "best size", optional(size, "unguarded_target")
    yield (
        "range",
        f"{size_range(size)} complete 99 % of what it does or more, in time" if size_range(size) != "-" else "-",
    )
    yield "confidence", f"{size.confidence:.2f}"
    yield "model", size.model or "-"
    yield "age", age(size, now)
    yield "holds up", _holds_up(size)
    yield "threshold", _threshold(explanation)
    if explanation.latency_source != LatencySource.LATENCY_SOURCE_UNSPECIFIED:
        yield "latency source", _latency_source(explanation)
    yield "rests on", _baseline(explanation.baseline)
    yield "hardware", advice(size)
    yield "window", _window(explanation)
    yield "instances", str(explanation.instances)
    if explanation.left_out:
        yield "left out", f"{_left_out(explanation)} in three minutes, by the rules of spans.toml"
    yield from belief_facts(explanation.belief) if explanation.HasField("belief") else curve_facts(explanation.curve)


def _holds_up(size: PoolSize) -> str:
    if not size.blame.holds_up:
        return "nobody: no operation's latency hangs on its service" if size.HasField("blame") else "-"
    return "; ".join(
        f"{held.root_service}/{held.root_operation}, {held.share_of_p95:.0%} of its p95"
        + (" (the critical service)" if held.critical else "")
        for held in size.blame.holds_up
    )


def _threshold(explanation: Explanation) -> str:
    if not explanation.HasField("threshold"):
        return "-"
    threshold = explanation.threshold
    if not threshold.HasField("value"):
        return f"not known yet: {threshold.detail}"
    text = seconds(threshold.value.ToTimedelta().total_seconds())
    if threshold.source == "derived":
        text += ", derived"
    elif threshold.source:
        text += f", from the {'SLO' if threshold.source == 'slo' else threshold.source}"
    return f"{text}: {threshold.detail}" if threshold.detail else text


def _latency_source(explanation: Explanation) -> str:
    client = explanation.pool_size.pool.side == SIDE_CLIENT
    if explanation.latency_source == LATENCY_SOURCE_CALLER:
        judged_by = "the service's own SERVER spans" if client else "callers' CLIENT spans"
        return f"{judged_by} (they include the wait for the pool)"
    if explanation.latency_source == LATENCY_SOURCE_OWN:
        return "the pool's own spans (they exclude a wait for the pool)"
    return LatencySource.Name(LatencySource.LATENCY_SOURCE_UNSPECIFIED)


def _target_size(target: TargetSize) -> str:
    return f"{target.instance} {'unbounded' if target.unbounded else target.size}"


def _baseline(baseline: Baseline) -> str:
    parts = [
        f"{baseline.cpu_limit_cores:g} cores" if baseline.HasField("cpu_limit_cores") else "",
        f"version {baseline.version}" if baseline.version else "",
        f"peer of {baseline.peer_cpu_limit_cores:g} cores" if baseline.HasField("peer_cpu_limit_cores") else "",
        f"peer of version {baseline.peer_version}" if baseline.peer_version else "",
    ]
    conditions = ", ".join(part for part in parts if part) or "unknown CPU limit and version"
    return (
        f"{conditions}; since {moment(baseline.since):%Y-%m-%d %H:%M:%S} UTC"
        if baseline.HasField("since")
        else conditions
    )


def _left_out(explanation: Explanation) -> str:
    return ", ".join(f"{spans.spans:,} spans ({spans.rule})" for spans in explanation.left_out)


def _window(explanation: Explanation) -> str:
    if not explanation.HasField("window_start") or not explanation.HasField("window_end"):
        return "-"
    begin, end = moment(explanation.window_start), moment(explanation.window_end)
    bucket = seconds(explanation.bucket.ToTimedelta().total_seconds())
    return (
        f"{begin:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S} UTC ({seconds((end - begin).total_seconds())}), "
        f"{explanation.buckets:,} buckets of {bucket}, {explanation.completions:,} completions"
    )
