"""Phrases that the text and the page share."""

from __future__ import annotations

from datetime import UTC, datetime

from sluice.cli.pools.text import seconds
from sluice.cli.traces.report.analysis.content import Report
from sluice.cli.traces.report.analysis.curves import Verdict
from sluice.cli.traces.report.analysis.operations import Operation, Way


def recording(report: Report) -> str:
    """What was read, from when to when."""
    extent = report.extent
    if not extent.end_ms or not (extent.spans or extent.files):
        return f"{extent.files:,} files without a usable span" if extent.files else "the stack has no span in this time"
    begin = datetime.fromtimestamp(extent.start_ms / 1000, UTC)
    files = "1 file" if extent.files == 1 else f"{extent.files:,} files" if extent.files else "the running stack"
    return (
        f"{extent.spans:,} spans of {extent.traces:,} traces and {extent.services:,} services in {files}; "
        f"{seconds((extent.end_ms - extent.start_ms) / 1000)} from {begin:%Y-%m-%d %H:%M:%S} UTC on"
    )


def critical(operation: Operation) -> str:
    """The service that holds an operation up, or why none is named."""
    localization = operation.localization
    if localization.critical is None:
        return f"no service is named: {'; '.join(reason.text for reason in localization.reasons)}"
    first = localization.ranking[0]
    return f"{localization.critical} holds it up: {first.share_of_end_to_end:.0%} of its time is blamed on it"


def way_text(way: Way) -> str:
    return " > ".join(way.services) if way.services else "other ways"


def current(verdict: Verdict) -> str:
    """The size in force by metrics, or "-"."""
    return "-" if verdict.current is None else str(verdict.current)


def size(verdict: Verdict) -> str:
    """The size that Sluice would name, or "-"."""
    return "-" if verdict.target is None else str(verdict.target)


def band(verdict: Verdict) -> str:
    return "-" if verdict.bounds is None else f"{verdict.bounds[0]} to {verdict.bounds[1]}"
