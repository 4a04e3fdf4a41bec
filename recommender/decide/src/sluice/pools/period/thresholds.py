"""A period's thresholds: from the configuration and traces of the services above a pool, from SLOs that targets
declare, or derived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sluice.model.durations import format_ms
from sluice.model.keys import PoolKey
from sluice.pools.estimate.threshold import Threshold, UpstreamRequest, UpstreamTime, target_threshold, threshold_of
from sluice.pools.inputs.sizes import TargetSize
from sluice.pools.section import Pool, PoolsSection, Slo

# Width of a bucket of the latency histograms (tests/contract/latency_index.csv). Windows resolve no less, and each
# change of the threshold's bucket makes the decider read all of a pool's windows again.
BUCKET = 2 ** (1 / 64)

UpstreamTimes = Mapping[UpstreamRequest, UpstreamTime]


class _Known(NamedTuple):
    basis: tuple[object, ...]
    time: UpstreamTime
    at_ms: int


class _Standing(NamedTuple):
    basis: tuple[object, ...]
    value_ms: float


class Thresholds:
    """Keeps the last known upstream time of each pool and SLO, for periods with too few traces. Keeps each threshold
    that is measured, or of targets, until a new one differs by a bucket's width, wherever buckets' edges are.
    """

    def __init__(self) -> None:
        self._known: dict[UpstreamRequest, _Known] = {}
        self._standing: dict[PoolKey, _Standing] = {}

    def of(
        self,
        config: PoolsSection,
        times: UpstreamTimes,
        now_ms: int,
        derived: Mapping[PoolKey, Threshold],
        targets: Mapping[PoolKey, Sequence[TargetSize]],
    ) -> dict[PoolKey, Threshold]:
        """The threshold of each pool. times: of the newest reading. derived: of the pools to which the
        file gives neither an SLO nor a threshold. Such a pool has the strictest SLO that its targets declare; without
        any, the derived threshold."""
        thresholds, configured, standing = dict(derived), set(), set()
        for pool in config.pools:
            if pool.key in derived:
                slos_ms = {target.instance: target.slo_ms for target in targets[pool.key] if target.slo_ms is not None}
                declared = target_threshold(slos_ms)
                if declared is not None:
                    thresholds[pool.key] = self._stand(pool.key, (declared.source,), declared)
                    standing.add(pool.key)
                continue
            slos = config.slos_of(pool)
            configured |= {UpstreamRequest(pool.key, slo.name) for slo in slos}
            newest = threshold_of(pool, slos, [self._newest(pool, slo, times, now_ms) for slo in slos])
            if pool.measured:
                newest = self._stand(pool.key, (pool.measured, tuple(slos)), newest)
                standing.add(pool.key)
            thresholds[pool.key] = newest
        self._known = {key: known for key, known in self._known.items() if key in configured}
        self._standing = {key: self._standing[key] for key in standing}
        return thresholds

    def _stand(self, key: PoolKey, basis: tuple[object, ...], newest: Threshold) -> Threshold:
        """Worked: 200 ms stay while 197.9 to 202.1 ms are measured, or declared by targets; 203 ms replace them."""
        standing = self._standing.get(key)
        if standing is None or standing.basis != basis or not 1 / BUCKET < newest.value_ms / standing.value_ms < BUCKET:
            self._standing[key] = _Standing(basis, newest.value_ms)
            return newest
        if newest.value_ms == standing.value_ms:
            return newest
        detail = f"{newest.detail}; {format_ms(round(standing.value_ms, 3))} stand, less than {BUCKET - 1:.1%} off"
        return replace(newest, value_ms=standing.value_ms, detail=detail)

    def _newest(self, pool: Pool, slo: Slo, times: UpstreamTimes, now_ms: int) -> UpstreamTime | None:
        """Known times of another root or statistic do not count; the SLO's latency may change."""
        if pool.measured is None:
            return None
        key, now = UpstreamRequest(pool.key, slo.name), times.get(UpstreamRequest(pool.key, slo.name))
        basis = (slo.service, slo.operation, pool.measured.statistic)
        if now is not None:
            self._known[key] = _Known(basis, now, now_ms)
            return now
        known = self._known.get(key)
        if known is None or known.basis != basis:
            return None
        return replace(known.time, age_ms=max(1, now_ms - known.at_ms))
