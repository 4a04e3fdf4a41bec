"""Reads a report from the tables of the running stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sluice.cli.traces.report.analysis.belief import sizes_of
from sluice.cli.traces.report.analysis.content import Extent, Report, ReportOptions
from sluice.cli.traces.report.analysis.curves import Circumstances, verdict_of
from sluice.cli.traces.report.analysis.operations import MOST_WAYS, Operation, Way
from sluice.cli.traces.report.analysis.pools import CandidatePool, PoolId, buckets_of, judges_of
from sluice.cli.traces.report.analysis.windows import BUCKET_MS, Windows
from sluice.cli.traces.report.live.answers import Answer, answers_of, as_answered, with_steady_sizes
from sluice.cli.traces.report.live.defects import defects_of
from sluice.cli.traces.report.live.queries import StackTables
from sluice.pools.critical.localizations import SQL as SERVICES_SQL
from sluice.pools.critical.localizations import localizations
from sluice.pools.estimate.critical import localize
from sluice.pools.metrics.pool_metric import MetricsReading

#: Spans of newer windows may still arrive.
SETTLES_MS = 10_000


def live_report(tables: StackTables, seconds: int, options: ReportOptions) -> Report:
    """The newest `seconds` of the stack. Raises CliError."""
    until_ms = (tables.now_ms() - SETTLES_MS) // BUCKET_MS * BUCKET_MS
    from_ms = until_ms - 1_000 * seconds
    number_of_pools, services, spans = tables.counts(from_ms, until_ms)
    pools = _pools(tables, from_ms, until_ms, options)
    operations = list(_operations(tables, from_ms, until_ms, seconds))
    answers = answers_of(tables.rows("answers", from_ms=from_ms))
    metrics = tables.metrics([pool.id.service for pool in pools], until_ms)
    extent = Extent(0, sum(one.traces for one in operations), spans, services, from_ms, until_ms, 0, ())
    return Report(
        extent,
        operations[: options.most_operations],
        max(0, len(operations) - options.most_operations),
        _with_verdicts(pools, answers, metrics, options.threshold_ms, until_ms),
        max(0, number_of_pools - len(pools)),
        defects_of(tables.rows("defects", from_ms=from_ms, until_ms=until_ms), pools),
        options.threshold_ms,
    )


def _with_verdicts(
    pools: list[CandidatePool],
    answers: dict[PoolId, Answer],
    metrics: MetricsReading,
    threshold_ms: float | None,
    until_ms: int,
) -> list[Any]:
    sizes = sizes_of([pool.id for pool in pools], metrics, until_ms)
    given = Circumstances(threshold_ms, False, until_ms, with_steady_sizes(sizes, answers, until_ms))
    verdicts = ((pool, verdict_of(pool, given), answers.get(pool.id)) for pool in pools)
    return [(pool, verdict if answer is None else as_answered(verdict, answer)) for pool, verdict, answer in verdicts]


def _pools(tables: StackTables, from_ms: int, until_ms: int, options: ReportOptions) -> list[CandidatePool]:
    """The most loaded pools, those with the most time in flight first."""
    rows: dict[PoolId, list[tuple[str, Windows, float, float]]] = {}
    shown = set()
    for service, side, peer, instance, is_shown, *arrays, p50_ms, p99_ms in tables.rows(
        "pools",
        from_ms=from_ms,
        until_ms=until_ms,
        most=options.most_pools,
        threshold_ms=options.threshold_ms or 0.0,
    ):
        of, known = PoolId(service, side, peer), rows.setdefault(PoolId(service, side, peer), [])
        known.append((instance, _windows(len(known), arrays), p50_ms or 0.0, p99_ms or 0.0))
        if is_shown:
            shown.add(of)
    windows = {of: _joined([one for _, one, _, _ in series]) for of, series in rows.items()}
    judges = judges_of(windows)
    pools = [_pool(of, rows[of], windows[of], judges[of]) for of in shown]
    return sorted(pools, key=lambda pool: (-int(pool.windows.busy_ns.sum()), str(pool.id)))


def _pool(
    of: PoolId, series: list[tuple[str, Windows, float, float]], windows: Windows, judges: list[Windows]
) -> CandidatePool:
    """Quantiles are those of the instance with the longest ones: histograms are summed by instance."""
    return CandidatePool(
        of,
        int(windows.completions.sum()),
        int(windows.errors.sum()),
        tuple(instance for instance, *_ in series),
        float(windows.busy_ns.max() / BUCKET_MS / 1e6),
        max(p50_ms for *_, p50_ms, _ in series),
        max(p99_ms for *_, p99_ms in series),
        buckets_of(windows, judges),
        windows,
    )


def _windows(series: int, arrays: list[list[int]]) -> Windows:
    """Of one instance: buckets, busy_ns, completions, errors, in_time."""
    bucket, *columns = (np.asarray(column, dtype=np.int64) for column in arrays)
    order = np.argsort(bucket)
    return Windows(np.full(len(bucket), series), bucket[order], *(column[order] for column in columns))


def _joined(parts: list[Windows]) -> Windows:
    columns = ("series", "bucket", "busy_ns", "completions", "errors", "in_time")
    return Windows(*(np.concatenate([getattr(part, column) for part in parts]) for column in columns))


def _operations(tables: StackTables, from_ms: int, until_ms: int, seconds: int) -> Iterator[Operation]:
    services = tables.query(SERVICES_SQL, service="", operation="", seconds=seconds + SETTLES_MS // 1_000)
    found = localizations(list(row) for row in services)
    by_root = {(root.service, root.operation): localization for root, localization in found.items()}
    for service, operation, traces, p50_ms, p95_ms, p99_ms, ways in tables.rows(
        "operations", from_ms=from_ms, until_ms=until_ms
    ):
        localization = by_root.get((service, operation)) or localize(service, [])
        yield Operation(service, operation, int(traces), p50_ms, p95_ms, p99_ms, None, tuple(_ways(ways)), localization)


def _ways(ways: list[tuple[str, int, float]]) -> Iterator[Way]:
    for signature, traces, mean_ms in ways[:MOST_WAYS]:
        yield Way(tuple(signature.split(" > ")), int(traces), mean_ms)
    if rest := ways[MOST_WAYS:]:
        number = sum(int(traces) for _, traces, _ in rest)
        yield Way((), number, sum(int(traces) * mean_ms for _, traces, mean_ms in rest) / number)
