"""Candidate pools: every service, side and peer that spans show, with what was in flight and completed per bucket."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.cli.traces.report.analysis.minutes import MinuteTimes, minutes_of
from sluice.cli.traces.report.analysis.names import Ints
from sluice.cli.traces.report.analysis.ranks import nearest_rank
from sluice.cli.traces.report.analysis.traces import Traces
from sluice.cli.traces.report.analysis.windows import BUCKET_MS, Windows, windows_of
from sluice.cli.traces.report.facts.facts import SIDES

Floats = NDArray[np.float64]
#: Sides by number.
SIDE_NAMES = ("server", "client", "consumer")


@dataclass(frozen=True)
class PoolId:
    """peer: "" unless the side is `client`."""

    service: str
    side: str
    peer: str

    def __str__(self) -> str:
        return f"{self.service}/{self.side}" + (f"/{self.peer}" if self.peer else "")


@dataclass(frozen=True)
class PoolBuckets:
    """The buckets of a pool with work in them, ascending; means over the instances with work in the bucket.

    goodput_per_s: completions in time and throughput_per_s: all completions, both by the judge's spans: the callers'
    CLIENT spans of a server pool, the service's SERVER spans of a client pool; the pool's own where there are none.
    """

    start_ms: Ints
    concurrency: Floats
    goodput_per_s: Floats
    throughput_per_s: Floats
    completions: Floats
    caller_judged: bool


@dataclass(frozen=True)
class CandidatePool:
    """spans: that hold a place in it. in_flight_most: the highest concurrency of an instance in a bucket. p50_ms and
    p99_ms: durations of its own spans. windows: of its own spans, a series an instance. minutes: of its judges'."""

    id: PoolId
    spans: int
    errors: int
    instances: tuple[str, ...]
    in_flight_most: float
    p50_ms: float
    p99_ms: float
    buckets: PoolBuckets
    windows: Windows
    minutes: tuple[MinuteTimes, ...] = ()


def pools_of(
    traces: Traces, most: int, threshold_ms: float | None = None, minutes: bool = False
) -> tuple[list[CandidatePool], int]:
    """The candidate pools, at most `most`, those with the most time in flight first, then by name.

    The number is that of further pools. threshold_ms: longest response time of a completion in time; None: every
    completion is in time. minutes: whether to compute them.
    """
    spans, labels = traces.spans, traces.labels
    held = np.flatnonzero(traces.holds)
    if not len(held):
        return [], 0
    keys, series = _series(traces, held)
    start, end, error = spans.start_ns[held], spans.end_ns[held], labels.error[held]
    windows = windows_of(series, start, end, error, threshold_ms)
    ranges = _ranges(keys, labels.names.texts)
    rows = {pool: windows.of(low, high) for pool, (low, high) in ranges.items()}
    judges = judges_of(rows)
    busy = {pool: int(windows.busy_ns.sum()) for pool, windows in rows.items()}
    chosen = sorted(ranges, key=lambda pool: (-busy[pool], str(pool)))[:most]
    in_series = np.argsort(series, kind="stable")
    borders = np.searchsorted(series[in_series], np.arange(keys.shape[1] + 1))
    judge_ids, pools = judges_by_id(ranges), []

    def spans_of(pool: PoolId) -> Ints:
        low, high = ranges[pool]
        return in_series[borders[low] : borders[high + 1]]

    for pool in chosen:
        (low, high), own = ranges[pool], spans_of(pool)
        took = np.sort(end[own] - start[own])
        p50_ms, p99_ms = (nearest_rank(took, share) / 1e6 for share in (0.5, 0.99))
        instances = tuple(labels.names.texts[number] for number in keys[3, low : high + 1])
        errors, in_flight = int(np.count_nonzero(error[own])), float(rows[pool].busy_ns.max() / BUCKET_MS / 1e6)
        buckets = buckets_of(rows[pool], judges[pool])
        by = np.concatenate([spans_of(judge) for judge in judge_ids[pool] or [pool]]) if minutes else own
        by_minute = minutes_of(rows[pool], end[by], end[by] - start[by]) if minutes else ()
        pools.append(
            CandidatePool(pool, len(own), errors, instances, in_flight, p50_ms, p99_ms, buckets, rows[pool], by_minute)
        )
    return pools, len(ranges) - len(pools)


def _ranges(keys: Ints, texts: list[str]) -> dict[PoolId, tuple[int, int]]:
    """The first and the last series of each pool."""
    first = np.flatnonzero(np.any(np.diff(keys[:3], axis=1, prepend=-1) != 0, axis=0)).tolist()
    last = [*(series - 1 for series in first[1:]), keys.shape[1] - 1]
    ids = [PoolId(texts[keys[0, low]], SIDE_NAMES[keys[1, low]], texts[keys[2, low]]) for low in first]
    return dict(zip(ids, zip(first, last, strict=True), strict=True))


def _series(traces: Traces, held: Ints) -> tuple[Ints, Ints]:
    """Service, side, peer and instance of each series, shape (4, n), sorted; and the series of each span of `held`."""
    labels, many = traces.labels, len(traces.labels.names.texts)
    side_of = np.zeros(max(SIDES) + 1, dtype=np.int64)
    for kind, side in SIDES.items():
        side_of[kind] = SIDE_NAMES.index(side)
    pool = (labels.service[held] * len(SIDE_NAMES) + side_of[labels.kind[held]]) * many + traces.peer[held]
    keys, series = np.unique(pool * many + labels.instance[held], return_inverse=True)
    pool, instance = np.divmod(keys, many)
    service_side, peer = np.divmod(pool, many)
    service, side = np.divmod(service_side, len(SIDE_NAMES))
    return np.stack([service, side, peer, instance]), series.reshape(-1)


def judges_of(rows: dict[PoolId, Windows]) -> dict[PoolId, list[Windows]]:
    """By pool: the windows of the spans one level up, where the wait for the pool is visible."""
    return {pool: [rows[judge] for judge in judges] for pool, judges in judges_by_id(rows).items()}


def judges_by_id(pools: Iterable[PoolId]) -> dict[PoolId, list[PoolId]]:
    """By pool: the pools whose spans judge it."""
    ids = list(pools)
    callers: dict[str, list[PoolId]] = {}
    for pool in ids:
        callers.setdefault(pool.peer, []).append(pool)
    servers = {pool.service: [pool] for pool in ids if pool.side == "server"}
    levels = {"server": lambda pool: callers.get(pool.service), "client": lambda pool: servers.get(pool.service)}
    return {pool: levels.get(pool.side, lambda _: None)(pool) or [] for pool in ids}


def buckets_of(own: Windows, judges: list[Windows], bucket_ms: int = BUCKET_MS) -> PoolBuckets:
    """Sums the instances of a pool per bucket, as the view `v_goodput_buckets` does."""
    bucket, at = np.unique(own.bucket, return_inverse=True)
    busy = np.bincount(at, own.busy_ns)
    instances = np.bincount(at, own.busy_ns > 0)
    completions, in_time = _completed(bucket, judges or [own])
    working = busy > 0
    bucket, busy, instances = bucket[working], busy[working], instances[working]
    completions, in_time = completions[working], in_time[working]
    per_s = instances * bucket_ms / 1000
    return PoolBuckets(
        bucket * bucket_ms,
        busy / instances / bucket_ms / 1e6,
        in_time / per_s,
        completions / per_s,
        completions,
        bool(judges),
    )


def _completed(bucket: Ints, judges: list[Windows]) -> tuple[Floats, Floats]:
    completions, in_time = np.zeros(len(bucket)), np.zeros(len(bucket))
    for windows in judges:
        at = np.searchsorted(bucket, windows.bucket)
        known = at < len(bucket)
        known[known] = bucket[at[known]] == windows.bucket[known]
        np.add.at(completions, at[known], windows.completions[known])
        np.add.at(in_time, at[known], windows.in_time[known])
    return completions, in_time
