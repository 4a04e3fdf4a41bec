"""An Explanation on the screen: the answer, where it came from, the curve."""

import sys
from collections.abc import Iterator
from datetime import datetime

import click

from sluice.cli.output import say
from sluice.cli.pools.curve_plot import ASCII, UNICODE, plot_curve
from sluice.cli.pools.selector import pool_name
from sluice.cli.pools.table import target
from sluice.cli.pools.words import action, age, basis, current, moment, seconds, size_range, state_name
from sluice.cli.printable import printable
from sluice.cli.table import Column, print_table
from sluice.pools.v1.evidence_pb2 import (
    LATENCY_SOURCE_CALLER,
    LATENCY_SOURCE_OWN,
    Baseline,
    Explanation,
    LatencySource,
    RememberedCurve,
)
from sluice.pools.v1.pool_pb2 import SIDE_CLIENT
from sluice.pools.v1.pool_size_pb2 import TargetSize

_POINTS = (*(Column(name, right=True) for name in ("CONCURRENCY", "GOODPUT/S", "FIT", "SAMPLES")), Column(""))


def print_explanation(explanation: Explanation, now: datetime) -> None:
    for label, value in _facts(explanation, now):
        click.echo(click.style(f"{label:<16}", bold=True) + printable(value))
    reasons = explanation.pool_size.reasons
    say("reasons" if reasons else "reasons         none", style="bold" if reasons else "")
    for reason in reasons:
        say(f"  {reason.code}: {reason.text}")
    curve = explanation.curve
    if not curve.points:
        click.echo("\nno curve: no completed span with data in the window")
        return
    knee = curve.knee if curve.HasField("knee") else None
    points = [
        (p.concurrency, p.goodput_per_s, p.fitted_per_s if p.HasField("fitted_per_s") else None) for p in curve.points
    ]
    symbols = UNICODE if (sys.stdout.encoding or "").lower().startswith("utf") else ASCII
    legend = f"{symbols.point} measured  {symbols.fit} fitted  {symbols.knee} knee"
    click.echo(f"\ngoodput per second and instance, by concurrency   {legend}")
    for line in plot_curve(points, knee, symbols=symbols):
        click.echo(line)
    print_table(_POINTS, _points(explanation, knee))


def _facts(explanation: Explanation, now: datetime) -> Iterator[tuple[str, str]]:
    size = explanation.pool_size
    yield "pool", pool_name(size.pool)
    yield "state", state_name(size.state)
    yield "current", current(size)
    if len(size.sizes) > 1:
        yield "targets", ", ".join(map(_target_size, size.sizes))
    yield "target", target(size)
    yield "action", action(size)
    yield "basis", basis(size)
    yield "range", size_range(size)
    yield "confidence", f"{size.confidence:.2f}"
    yield "model", size.model or "-"
    yield "age", age(size, now)
    yield "threshold", _threshold(explanation)
    yield "latency source", _latency_source(explanation)
    yield "stands on", _baseline(explanation.baseline)
    yield "memory", _remembered(explanation, now)
    yield "window", _window(explanation)
    yield "instances", str(explanation.instances)
    if explanation.curve.HasField("knee"):
        yield "knee", f"at concurrency {explanation.curve.knee:.4g}"
    else:
        yield "knee", "none"
    degree = explanation.curve.polynomial_degree
    yield "fit", f"polynomial of degree {degree}" if degree else "nothing was fitted"


def _threshold(explanation: Explanation) -> str:
    if not explanation.HasField("threshold"):
        return "-"
    threshold = explanation.threshold
    text = seconds(threshold.value.ToTimedelta().total_seconds())
    if threshold.source:
        text += f", from the {'SLO' if threshold.source == 'slo' else threshold.source}"
    return f"{text}: {threshold.detail}" if threshold.detail else text


def _latency_source(explanation: Explanation) -> str:
    client = explanation.pool_size.pool.side == SIDE_CLIENT
    if explanation.latency_source == LATENCY_SOURCE_CALLER:
        judged_by = "the service's own SERVER spans" if client else "callers' CLIENT spans"
        return f"{judged_by} (they contain the wait for the pool)"
    if explanation.latency_source == LATENCY_SOURCE_OWN:
        return "the pool's own spans (a wait for the pool is invisible in them)"
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
    told = ", ".join(part for part in parts if part) or "no CPU limit and no version were told"
    return (
        f"{told}; samples since {moment(baseline.since):%Y-%m-%d %H:%M:%S} UTC" if baseline.HasField("since") else told
    )


def _remembered(explanation: Explanation, now: datetime) -> str:
    if not explanation.HasField("remembered_curve"):
        return "not used"
    curve = explanation.remembered_curve
    found = f"{curve.found_target} ({curve.found_lower_bound} to {curve.found_upper_bound})"
    when = seconds((now - moment(curve.found_at)).total_seconds())
    if curve.kind == RememberedCurve.KIND_SAME:
        return f"{found} was best here {when} ago"
    return f"{found} was best {when} ago with {_baseline(curve.baseline)}: {curve.target} by the ratio of CPU limits"


def _window(explanation: Explanation) -> str:
    if not explanation.HasField("window_start") or not explanation.HasField("window_end"):
        return "-"
    begin, end = moment(explanation.window_start), moment(explanation.window_end)
    bucket = seconds(explanation.bucket.ToTimedelta().total_seconds())
    return (
        f"{begin:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S} UTC ({seconds((end - begin).total_seconds())}), "
        f"{explanation.buckets:,} buckets of {bucket}, {explanation.completions:,} completions"
    )


def _points(explanation: Explanation, knee: float | None) -> Iterator[tuple[str, ...]]:
    nearest = None if knee is None else min(explanation.curve.points, key=lambda point: abs(point.concurrency - knee))
    for point in explanation.curve.points:
        fitted = f"{point.fitted_per_s:.1f}" if point.HasField("fitted_per_s") else "-"
        mark = "< knee" if point is nearest else ""
        yield f"{point.concurrency:.4g}", f"{point.goodput_per_s:.1f}", fitted, f"{point.samples:,}", mark
