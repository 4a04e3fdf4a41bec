"""The thresholds of a period: from the configuration, and from what traces say of the services above a pool."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sluice.config import Config, Pool, Slo
from sluice.core.keys import PoolKey
from sluice.pools.estimate.threshold import Asked, Threshold, UpstreamTime, threshold_of


class _Known(NamedTuple):
    asked: tuple[object, ...]
    time: UpstreamTime
    at_ms: int


class Thresholds:
    """Remembers the last known upstream time of each pool and SLO, for periods in which too few traces lead there."""

    def __init__(self) -> None:
        self._known: dict[Asked, _Known] = {}

    def of(self, config: Config, seen: dict[Asked, UpstreamTime], now_ms: int) -> dict[PoolKey, Threshold]:
        """`seen`: what this period's query gave."""
        found, asked = {}, set()
        for pool in config.pools:
            slos = config.slos_of(pool)
            asked |= {Asked(pool.key, slo.name) for slo in slos}
            found[pool.key] = threshold_of(pool, slos, [self._newest(pool, slo, seen, now_ms) for slo in slos])
        self._known = {key: known for key, known in self._known.items() if key in asked}
        return found

    def _newest(self, pool: Pool, slo: Slo, seen: dict[Asked, UpstreamTime], now_ms: int) -> UpstreamTime | None:
        """What is known of another root or another statistic is not known of this one; the SLO's latency may change."""
        if pool.measured is None:
            return None
        key, now = Asked(pool.key, slo.name), seen.get(Asked(pool.key, slo.name))
        asked = (slo.service, slo.operation, pool.measured.statistic)
        if now is not None:
            self._known[key] = _Known(asked, now, now_ms)
            return now
        known = self._known.get(key)
        if known is None or known.asked != asked:
            return None
        return replace(known.time, age_ms=max(1, now_ms - known.at_ms))
