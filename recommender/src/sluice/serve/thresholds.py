"""The thresholds of a period: from the configuration, and from what traces say of the services above a pool."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sluice.config import Config, Pool, PoolKey, Slo, Upstream
from sluice.estimate.threshold import Threshold, UpstreamTime, threshold_of


class _Known(NamedTuple):
    asked: tuple[object, ...]
    time: UpstreamTime
    at_ms: int


class Thresholds:
    """Remembers the last known upstream time of each pool, for periods in which too few traces lead to it."""

    def __init__(self) -> None:
        self._known: dict[PoolKey, _Known] = {}

    def of(self, config: Config, seen: dict[PoolKey, UpstreamTime], now_ms: int) -> dict[PoolKey, Threshold]:
        """`seen`: what this period's query gave."""
        found = {}
        for pool in config.pools:
            slo = config.slo_of(pool)
            found[pool.key] = threshold_of(pool, slo, self._newest(pool, slo, seen.get(pool.key), now_ms))
        self._known = {key: known for key, known in self._known.items() if key in found}
        return found

    def _newest(self, pool: Pool, slo: Slo | None, seen: UpstreamTime | None, now_ms: int) -> UpstreamTime | None:
        """What is known of another root or another statistic is not known of this one; the SLO's latency may change."""
        if slo is None or not isinstance(pool.upstream, Upstream):
            return None
        asked = (slo.service, slo.operation, pool.upstream.statistic)
        if seen is not None:
            self._known[pool.key] = _Known(asked, seen, now_ms)
            return seen
        known = self._known.get(pool.key)
        if known is None or known.asked != asked:
            return None
        return replace(known.time, age_ms=max(1, now_ms - known.at_ms))
