"""What Sluice would say of a candidate pool, and the curve that it says it from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sluice.cli.traces.report.analysis.belief import PoolSizes, believed
from sluice.cli.traces.report.analysis.pools import CandidatePool, Floats, PoolBuckets, PoolId
from sluice.cli.traces.report.analysis.windows import BUCKET_MS
from sluice.model.reason import Reason
from sluice.model.states import State
from sluice.pools.estimate import Estimate, Samples
from sluice.pools.estimate.curve import Curve, per_level
from sluice.pools.estimate.evidence import standard_errors
from sluice.pools.estimate.models import DEFAULT, estimators_at
from sluice.pools.inputs.sizes import one_size
from sluice.pools.policy.picture import Picture

#: Points of the concurrency over time.
POINTS = 240
SIZE_UNKNOWN = Reason(
    "SIZE_UNKNOWN",
    "spans do not show the size in force, so the belief cannot decide; a published model names the size from the "
    "curve. Agents send sizes as metrics: --metrics reads them",
)
SLO_UNKNOWN = Reason("SLO_UNKNOWN", "no response time is promised, so every completion counts as good; set --threshold")
SAMPLED = Reason("SAMPLED", "the recording is a sample, which does not show concurrency: no size is named from it")
UNNAMED_PEER = Reason("PEER_UNKNOWN", "connections to several peers may be summed here: their spans name no peer")


@dataclass(frozen=True)
class TimeLine:
    """Concurrency per instance over time: the mean and the highest bucket of each of at most 240 intervals of equal
    length, from start_ms on. A bucket without work counts as 0."""

    start_ms: int
    step_ms: int
    mean: Floats
    most: Floats


@dataclass(frozen=True)
class Verdict:
    """curve: goodput by level of concurrency; errors: a standard error of each point. current: the size in force by
    metrics, None where no single one is known. target and bounds: of the belief where sizes are known, else of the
    estimate; None of a sample. picture: the belief, None without one. reasons: why Sluice says this, and no more."""

    estimate: Estimate
    current: int | None
    state: State
    confidence: float
    target: int | None
    bounds: tuple[int, int] | None
    curve: Curve
    errors: Floats
    time_line: TimeLine
    picture: Picture | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class Circumstances:
    """What a verdict needs besides the pool's spans. sampled: the recording is a sample. end_ms: its end, Unix time.
    sizes: of the metrics."""

    threshold_ms: float | None
    sampled: bool
    end_ms: int
    sizes: Mapping[PoolId, PoolSizes]


def verdict_of(pool: CandidatePool, given: Circumstances) -> Verdict:
    """The belief's where metrics have a size, else that of a published model."""
    sizes = given.sizes.get(pool.id)
    verdict = _by_model(pool, given)
    if sizes is None:
        return verdict
    if given.sampled or not sizes.targets:
        reasons = tuple(reason for reason in verdict.reasons if reason != SIZE_UNKNOWN or not sizes.targets)
        return replace(verdict, current=one_size(sizes.targets), reasons=(*reasons, *sizes.notes))
    current, decision, picture, threshold = believed(pool, sizes, given.threshold_ms, given.end_ms)
    low, high = decision.lower, decision.upper
    decided = [Reason(code, text) for code, text in decision.reasons]
    of_spans = [reason for reason in verdict.reasons if reason in (SLO_UNKNOWN, UNNAMED_PEER)]
    if threshold is not None and threshold.is_known:
        of_spans = [*threshold.reasons, *(reason for reason in of_spans if reason != SLO_UNKNOWN)]
    return replace(
        verdict,
        current=current,
        state=decision.state,
        confidence=decision.confidence,
        target=decision.target,
        bounds=None if low is None or high is None else (low, high),
        picture=picture,
        reasons=(*decided, *sizes.notes, *of_spans),
    )


def _by_model(pool: CandidatePool, given: Circumstances) -> Verdict:
    threshold_ms, sampled = given.threshold_ms, given.sampled
    samples = _samples(pool)
    estimate = estimators_at(BUCKET_MS)[DEFAULT].estimate(samples if len(samples) else None)
    curve = per_level(samples)
    errors = standard_errors(curve.concurrency, samples) if len(curve) else np.zeros(0)
    reasons = [SAMPLED, SIZE_UNKNOWN] if sampled else [SIZE_UNKNOWN]
    if threshold_ms is None:
        reasons.append(SLO_UNKNOWN)
    if pool.id.peer == "unknown":
        reasons.append(UNNAMED_PEER)
    low, high = estimate.lower_bound, estimate.upper_bound
    target = None if sampled else estimate.target
    return Verdict(
        estimate,
        None,
        estimate.state,
        estimate.confidence if target is not None else 0.0,
        target,
        None if sampled or low is None or high is None else (low, high),
        curve,
        errors,
        time_line_of(pool.buckets),
        None,
        (*estimate.reasons, *reasons),
    )


def _samples(pool: CandidatePool) -> Samples:
    buckets = pool.buckets
    return Samples(
        buckets.concurrency,
        buckets.goodput_per_s,
        buckets.throughput_per_s,
        buckets.completions,
        np.full(len(buckets.concurrency), np.nan),
        len(pool.instances),
        buckets.caller_judged,
        buckets.start_ms,
    )


def time_line_of(buckets: PoolBuckets, points: int = POINTS, bucket_ms: int = BUCKET_MS) -> TimeLine:
    """Of a pool with buckets; an empty line without."""
    if not len(buckets.start_ms):
        return TimeLine(0, bucket_ms, np.zeros(0), np.zeros(0))
    first = int(buckets.start_ms[0])
    number = (buckets.start_ms - first) // bucket_ms
    each = -(-(int(number[-1]) + 1) // points)
    at = number // each
    size = int(at[-1]) + 1
    most = np.zeros(size)
    np.maximum.at(most, at, buckets.concurrency)
    return TimeLine(first, each * bucket_ms, np.bincount(at, buckets.concurrency, minlength=size) / each, most)
