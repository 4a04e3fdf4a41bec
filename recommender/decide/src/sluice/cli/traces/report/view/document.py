"""The report as JSON. Names and order of fields are stable; `docs/report-fields.md` documents them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sluice.cli.traces.critical_service.ranking import as_json
from sluice.cli.traces.report.analysis.content import Report
from sluice.cli.traces.report.analysis.curves import TimeLine, Verdict
from sluice.cli.traces.report.analysis.operations import Operation
from sluice.cli.traces.report.analysis.pools import CandidatePool
from sluice.model.reason import Reason
from sluice.pools.estimate.models import BELIEF, DEFAULT
from sluice.pools.policy.picture import Picture


def document(report: Report) -> dict[str, Any]:
    """Times in ms, rates per second and instance, shares 0..1; null where a value is not known."""
    return {
        "recording": vars(report.extent) | {"skipped": list(report.extent.skipped)},
        "threshold_ms": report.threshold_ms,
        "quality": [vars(finding) for finding in report.quality],
        "operations": [_operation(operation) for operation in report.operations],
        "operations_left_out": report.operations_left_out,
        "pools": [_pool(pool, verdict) for pool, verdict in report.pools],
        "pools_left_out": report.pools_left_out,
    }


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "service": operation.service,
        "operation": operation.operation,
        "traces": operation.traces,
        "errors": operation.errors,
        "p50_ms": operation.p50_ms,
        "p95_ms": operation.p95_ms,
        "p99_ms": operation.p99_ms,
        "critical_paths": [
            {"services": list(way.services), "traces": way.traces, "mean_ms": _rounded(way.mean_ms)}
            for way in operation.ways
        ],
        "localization": as_json((operation.service, operation.operation), operation.localization),
    }


def _pool(pool: CandidatePool, verdict: Verdict) -> dict[str, Any]:
    low, high = verdict.bounds or (None, None)
    return {
        "service": pool.id.service,
        "side": pool.id.side,
        "peer": pool.id.peer,
        "instances": list(pool.instances),
        "spans": pool.spans,
        "errors": pool.errors,
        "p50_ms": pool.p50_ms,
        "p99_ms": pool.p99_ms,
        "most_in_flight": _rounded(pool.in_flight_most),
        "judged_by": "callers" if pool.buckets.caller_judged else "own spans",
        "current": verdict.current,
        "state": verdict.state.value,
        "target": verdict.target,
        "lower_bound": low,
        "upper_bound": high,
        "confidence": _rounded(verdict.confidence),
        "model": DEFAULT if verdict.picture is None else BELIEF,
        "reasons": _reasons(verdict.reasons),
        "curve": _curve(verdict),
        "belief": _belief(verdict.picture),
        "concurrency": _time_line(verdict.time_line),
    }


def _reasons(reasons: Iterable[Reason]) -> list[dict[str, str]]:
    return [{"code": reason.code, "text": reason.text} for reason in reasons]


def _curve(verdict: Verdict) -> list[dict[str, Any]]:
    curve = verdict.curve
    rows = zip(
        curve.concurrency.tolist(), curve.goodput_per_s.tolist(), verdict.errors.tolist(), curve.count, strict=True
    )
    return [
        {
            "concurrency": _rounded(concurrency),
            "goodput_per_s": _rounded(goodput),
            "standard_error_per_s": _rounded(error) if count > 1 else None,
            "buckets": int(count),
        }
        for concurrency, goodput, error, count in rows
    ]


def _belief(picture: Picture | None) -> dict[str, Any] | None:
    if picture is None:
        return None
    return {
        "evidence": [
            {
                "concurrency": _rounded(point.concurrency),
                "throughput_per_s": _rounded(point.completions_per_s),
                "seconds": _rounded(point.seconds),
                "full": point.full,
            }
            for point in picture.points
        ],
        "curve": [
            {
                "size": of.size,
                "throughput_per_s": _rounded(of.per_s),
                "lower_per_s": _rounded(of.lower_per_s),
                "upper_per_s": _rounded(of.upper_per_s),
            }
            for of in picture.curve
        ],
        "best": picture.best,
        "loss": None if picture.loss is None else _rounded(picture.loss),
    }


def _time_line(line: TimeLine) -> dict[str, Any]:
    return {
        "start_ms": line.start_ms,
        "step_ms": line.step_ms,
        "mean": [_rounded(value) for value in line.mean.tolist()],
        "most": [_rounded(value) for value in line.most.tolist()],
    }


def _rounded(value: float) -> float:
    return round(value, 4)
