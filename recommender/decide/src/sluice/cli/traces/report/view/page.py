"""The report as one HTML page. It has its styles and pictures within it, and no script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sluice.cli.traces.report.analysis.content import Report
from sluice.cli.traces.report.analysis.curves import Verdict
from sluice.cli.traces.report.analysis.findings import QualityFinding
from sluice.cli.traces.report.analysis.operations import Operation
from sluice.cli.traces.report.analysis.pools import CandidatePool
from sluice.cli.traces.report.view import words as phrases
from sluice.cli.traces.report.view.pictures import belief_picture, blame_picture, curve_picture, time_picture
from sluice.cli.traces.report.view.svg import table, tag, words

STYLE = Path(__file__).with_name("page.css")
_OPERATIONS = ("Operation", "Traces>", "Errors>", "p50, ms>", "p95, ms>", "p99, ms>", "Held up by")
_SERVICES = ("Service", "Blame, ms>", "Own, ms>", "Wait, ms>", "Of end to end>", "Correlation>", "Reasons")
_POOLS = ("Pool", "Spans>", "Instances>", "Most in flight>", "p50, ms>", "p99, ms>", "State", "Now>", "Size>", "Range>")
#: Nothing may be loaded from elsewhere, whatever a name in the page contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(report: Report) -> str:
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        tag("title", "Sluice report"),
        # No tag(): a style sheet is no text to be escaped.
        f"<style>{STYLE.read_text(encoding='utf-8')}</style>",
    ]
    body = [
        tag("h1", "Sluice report"),
        tag("p", words(phrases.recording(report))),
        tag("h2", "Data quality"),
        _quality(report.quality),
        tag("h2", "Operations"),
        *_operations(report),
        tag("h2", "Pools"),
        *_pools(report),
    ]
    return f'<!doctype html>\n<html lang="en">{tag("head", *head)}{tag("body", *body)}</html>'


def _quality(findings: list[QualityFinding]) -> str:
    if not findings:
        return tag("p", "Nothing found.")
    return table(("Code", "What", "Remedy"), ((finding.code, finding.text, finding.remedy) for finding in findings))


def _operations(report: Report) -> Iterator[str]:
    operations = report.operations
    if not operations:
        yield tag("p", "No trace has a complete critical path.")
        return
    yield table(_OPERATIONS, map(_operation_row, operations))
    if report.operations_left_out:
        yield tag(
            "p", f"{report.operations_left_out:,} operations with fewer traces are not shown; raise --operations."
        )
    for operation in operations:
        yield tag("h3", words(f"{operation.service}/{operation.operation}"))
        yield tag("p", words(phrases.critical(operation)))
        yield blame_picture(operation)
        ways = ((phrases.way_text(way), f"{way.traces:,}", f"{way.mean_ms:,.1f}") for way in operation.ways)
        yield table(("Critical path", "Traces>", "Mean, ms>"), ways)
        if operation.localization.ranking:
            yield table(_SERVICES, _services(operation))


def _operation_row(operation: Operation) -> tuple[str, ...]:
    return (
        f"{operation.service}/{operation.operation}",
        f"{operation.traces:,}",
        "-" if operation.errors is None else f"{operation.errors:,}",
        f"{operation.p50_ms:,.1f}",
        f"{operation.p95_ms:,.1f}",
        f"{operation.p99_ms:,.1f}",
        operation.localization.critical or "-",
    )


def _services(operation: Operation) -> Iterator[tuple[str, ...]]:
    for ranked in operation.localization.ranking:
        yield (
            ranked.service,
            f"{ranked.blame_ms:.2f}",
            f"{ranked.mean_ms:.2f}",
            f"{ranked.wait_ms:.2f}",
            f"{ranked.share_of_end_to_end:.0%}",
            "-" if ranked.correlation is None else f"{ranked.correlation:.2f}",
            "; ".join(reason.text for reason in ranked.reasons),
        )


def _pools(report: Report) -> Iterator[str]:
    if not report.pools:
        yield tag("p", "No span holds a place in a pool: none is of kind SERVER, CLIENT, PRODUCER or CONSUMER.")
        return
    yield table(_POOLS, (_pool_row(pool, verdict) for pool, verdict in report.pools))
    if report.pools_left_out:
        yield tag("p", f"{report.pools_left_out:,} less loaded pools are not shown; raise --pools.")
    for pool, verdict in report.pools:
        yield tag("h3", words(str(pool.id)))
        yield tag(
            "div",
            tag("figure", time_picture(verdict.time_line), tag("figcaption", _IN_TIME)),
            _curve(verdict),
            class_="pictures",
        )
        yield tag("ul", *(tag("li", words(f"{reason.code}: {reason.text}")) for reason in verdict.reasons))


def _curve(verdict: Verdict) -> str:
    if verdict.picture is None:
        return tag("figure", curve_picture(verdict), tag("figcaption", _CURVE))
    return tag("figure", belief_picture(verdict, verdict.picture), tag("figcaption", _BELIEF))


_BELIEF = (
    "Completions per second and instance by size: the belief of a full pool (line) with 80 % of it (grey); evidence of "
    "a full pool (dots) and of one that was not full (rings); size in force (dashes), target (line), its range (band)"
)
_IN_TIME = "Requests in flight per instance over time: mean (line) and highest bucket of 100 ms (area)"
_CURVE = (
    "Completions per second and instance by requests in flight, with two standard errors; larger dots: more buckets; "
    "size (line), its range (band), fit (dashes)"
)


def _pool_row(pool: CandidatePool, verdict: Verdict) -> tuple[str, ...]:
    return (
        str(pool.id),
        f"{pool.spans:,}",
        f"{len(pool.instances):,}",
        f"{pool.in_flight_most:.1f}",
        f"{pool.p50_ms:,.1f}",
        f"{pool.p99_ms:,.1f}",
        verdict.state.value,
        phrases.current(verdict),
        phrases.size(verdict),
        phrases.band(verdict),
    )
