"""The report of a recording: what all of its forms show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.cli.traces.report.analysis.belief import sizes_of
from sluice.cli.traces.report.analysis.curves import SAMPLED, Circumstances, Verdict, verdict_of
from sluice.cli.traces.report.analysis.findings import QualityFinding
from sluice.cli.traces.report.analysis.operations import Operation, operations_of
from sluice.cli.traces.report.analysis.pools import CandidatePool, pools_of
from sluice.cli.traces.report.analysis.quality import quality_of
from sluice.cli.traces.report.analysis.traces import Traces, traces_of
from sluice.cli.traces.report.analysis.usable import usable
from sluice.cli.traces.report.facts.facts import CLIENT
from sluice.cli.traces.report.reading.columns import Spans
from sluice.pools.metrics.pool_metric import MetricsReading


@dataclass(frozen=True)
class Extent:
    """What was read. Times in ms since 1970, 0 without spans. skipped: records that are no traces, the first ones."""

    files: int
    traces: int
    spans: int
    services: int
    start_ms: int
    end_ms: int
    records_skipped: int
    skipped: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """operations: those with most traces. pools: the most loaded, with their verdicts. operations_left_out and
    pools_left_out: how many further ones there are."""

    extent: Extent
    operations: list[Operation]
    operations_left_out: int
    pools: list[tuple[CandidatePool, Verdict]]
    pools_left_out: int
    quality: list[QualityFinding]
    threshold_ms: float | None


@dataclass(frozen=True)
class ReportOptions:
    """threshold_ms: longest response time of a good completion; None: every completion is good. The others: how many
    operations and pools the report has at most."""

    threshold_ms: float | None = None
    most_operations: int = 100
    most_pools: int = 100


@dataclass(frozen=True)
class ReadCounts:
    """Counts of what was read."""

    files: int
    records_skipped: int
    skipped: tuple[str, ...]


NO_METRICS = MetricsReading([], {})


def report_of(spans: Spans, source: ReadCounts, options: ReportOptions, metrics: MetricsReading = NO_METRICS) -> Report:
    """Pure: the same spans and metrics give the same report."""
    threshold_ms = options.threshold_ms
    counted, unusable = usable(spans)
    traces = traces_of(counted)
    pools, pools_left_out = pools_of(
        traces, options.most_pools, threshold_ms, bool(metrics.sizes) and threshold_ms is None
    )
    quality = quality_of(traces, unusable)
    sampled = any(finding.code == SAMPLED.code for finding in quality)
    extent = _extent(spans, counted, source)
    peers = _peers(traces) if metrics.sizes else {}
    sizes = sizes_of([pool.id for pool in pools], metrics._replace(peers=peers), extent.end_ms)
    given = Circumstances(threshold_ms, sampled, extent.end_ms, sizes)
    operations, operations_left_out = operations_of(traces, options.most_operations)
    return Report(
        extent,
        operations,
        operations_left_out,
        [(pool, verdict_of(pool, given)) for pool in pools],
        pools_left_out,
        [*_skipped(source), *quality],
        threshold_ms,
    )


def _peers(traces: Traces) -> dict[str, frozenset[str]]:
    """The peers of the client spans of each service."""
    texts, calls = traces.labels.names.texts, traces.holds & (traces.labels.kind == CLIENT)
    pairs = np.unique(np.stack([traces.labels.service[calls], traces.peer[calls]]), axis=1)
    peers: dict[str, set[str]] = {}
    for service, peer in pairs.T.tolist():
        peers.setdefault(texts[service], set()).add(texts[peer])
    return {service: frozenset(names) for service, names in peers.items()}


def _extent(spans: Spans, counted: Spans, source: ReadCounts) -> Extent:
    return Extent(
        source.files,
        len(np.unique(spans.trace)),
        len(spans),
        len({spans.facts_of[number].service for number in np.unique(counted.facts)}),
        int(counted.start_ns.min(initial=np.iinfo(np.int64).max)) // 1_000_000 if len(counted) else 0,
        int(counted.end_ns.max(initial=0)) // 1_000_000,
        source.records_skipped,
        source.skipped,
    )


def _skipped(source: ReadCounts) -> list[QualityFinding]:
    if not source.records_skipped:
        return []
    text = f"{source.records_skipped:,} records are no traces and were skipped; the first: {source.skipped[0]}"
    return [QualityFinding("RECORDS_SKIPPED", text, "mend these records, or record again")]
