"""The report as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from sluice.cli.pools.curve_plot import ASCII, CurvePlot, plot_curve
from sluice.cli.printable import printable
from sluice.cli.table import columns, lines
from sluice.cli.traces.report.analysis.content import Report
from sluice.cli.traces.report.analysis.curves import Verdict
from sluice.cli.traces.report.analysis.operations import Operation
from sluice.cli.traces.report.analysis.pools import CandidatePool
from sluice.cli.traces.report.view import words
from sluice.pools.policy.picture import Picture

_OPERATIONS = columns("OPERATION", "TRACES>", "ERRORS>", "P50 MS>", "P95 MS>", "P99 MS>", "HELD UP BY", "OF ITS TIME>")
_SERVICES = columns("SERVICE", "BLAME MS>", "SELF MS>", "WAIT MS>", "OF END TO END>", "CORRELATION>")
_POOLS = columns(
    "POOL", "SPANS>", "INSTANCES>", "IN FLIGHT>", "P50 MS>", "P99 MS>", "STATE", "NOW>", "SIZE>", "RANGE>", "REASONS"
)
#: Operations with their services and paths, and pools with their curve; JSON and the page have all.
_DETAILED = 3
_BARS = " .:-=+*#%@"


def text(report: Report) -> Iterator[str]:
    """Lines without line breaks."""
    yield words.recording(report)
    yield ""
    yield "DATA QUALITY"
    if not report.quality:
        yield "  nothing found"
    for finding in report.quality:
        yield printable(f"  {finding.code}: {finding.text}")
        if finding.remedy:
            yield printable(f"    remedy: {finding.remedy}")
    yield ""
    yield from _operations(report)
    yield from _pools(report)


def _operations(report: Report) -> Iterator[str]:
    operations = report.operations
    if not operations:
        yield "no complete critical path"
        yield ""
        return
    yield from lines(_OPERATIONS, map(_operation_row, operations))
    if report.operations_left_out:
        yield f"{report.operations_left_out:,} operations with fewer traces are not shown; raise --operations"
    for operation in operations[:_DETAILED]:
        yield ""
        yield printable(f"{operation.service}/{operation.operation}: {words.critical(operation)}")
        for way in operation.ways:
            yield printable(f"  {way.traces:,} traces, mean {way.mean_ms:,.1f} ms: {words.way_text(way)}")
        if operation.localization.ranking:
            rows = (
                (
                    ranked.service,
                    f"{ranked.blame_ms:.2f}",
                    f"{ranked.mean_ms:.2f}",
                    f"{ranked.wait_ms:.2f}",
                    f"{ranked.share_of_end_to_end:.0%}",
                    "-" if ranked.correlation is None else f"{ranked.correlation:.2f}",
                )
                for ranked in operation.localization.ranking
            )
            yield from (f"  {line}" for line in lines(_SERVICES, rows))
    yield ""


def _operation_row(operation: Operation) -> tuple[str, ...]:
    localization = operation.localization
    share = f"{localization.ranking[0].share_of_end_to_end:.0%}" if localization.critical else "-"
    return (
        f"{operation.service}/{operation.operation}",
        f"{operation.traces:,}",
        "-" if operation.errors is None else f"{operation.errors:,}",
        f"{operation.p50_ms:.1f}",
        f"{operation.p95_ms:.1f}",
        f"{operation.p99_ms:.1f}",
        localization.critical or "-",
        share,
    )


def _pools(report: Report) -> Iterator[str]:
    if not report.pools:
        yield "no candidate pool: no span is of kind SERVER, CLIENT, PRODUCER or CONSUMER and holds a place"
        return
    yield from lines(_POOLS, (_pool_row(pool, verdict) for pool, verdict in report.pools))
    if report.pools_left_out:
        yield f"{report.pools_left_out:,} less loaded pools are not shown; raise --pools"
    for pool, verdict in report.pools[:_DETAILED]:
        yield ""
        yield from _pool(pool, verdict)


def _pool_row(pool: CandidatePool, verdict: Verdict) -> tuple[str, ...]:
    return (
        str(pool.id),
        f"{pool.spans:,}",
        f"{len(pool.instances):,}",
        f"{pool.in_flight_most:.1f}",
        f"{pool.p50_ms:.1f}",
        f"{pool.p99_ms:.1f}",
        verdict.state.value,
        words.current(verdict),
        words.size(verdict),
        words.band(verdict),
        " ".join(reason.code for reason in verdict.reasons),
    )


def _pool(pool: CandidatePool, verdict: Verdict) -> Iterator[str]:
    yield printable(str(pool.id))
    for reason in verdict.reasons:
        yield printable(f"  {reason.code}: {reason.text}")
    yield f"  in flight over time, up to {pool.in_flight_most:.1f}: {spark(verdict.time_line.most.tolist())}"
    if verdict.picture is not None:
        yield "  completions per second and instance, by size: o full, * not full, . belief, ' 80 % of it"
        yield from (f"  {line}" for line in plot_curve(belief_plot(verdict.picture), height=10, symbols=ASCII))
        return
    yield "  completions per second and instance, by requests in flight"
    points = zip(verdict.curve.concurrency.tolist(), verdict.curve.goodput_per_s.tolist(), strict=True)
    plot = CurvePlot([(point, ASCII.point) for point in points], knee=verdict.estimate.knee)
    yield from (f"  {line}" for line in plot_curve(plot, height=10, symbols=ASCII))


def belief_plot(picture: Picture) -> CurvePlot:
    return CurvePlot(
        scatter=[
            ((point.concurrency, point.completions_per_s), ASCII.point if point.full else ASCII.light)
            for point in picture.points
        ],
        fit=[(of.size, of.per_s) for of in picture.curve],
        band=[(of.size, of.lower_per_s, of.upper_per_s) for of in picture.curve],
        best=(picture.knee, picture.upper),
    )


def spark(values: list[float], width: int = 60) -> str:
    """A character for the highest of each of `width` parts, from a blank (0) to @ (the highest of all)."""
    top = max(values, default=0.0)
    if top <= 0:
        return ""
    each = -(-len(values) // width)
    highest = [max(values[at : at + each]) for at in range(0, len(values), each)]
    return "".join(_BARS[min(int(value / top * (len(_BARS) - 1) + 0.999), len(_BARS) - 1)] for value in highest)
