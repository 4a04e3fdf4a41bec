"""Stands in for the collector where only a pool's own windows are known."""

from collections.abc import Iterable, Mapping

from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.pools.clocks.offsets import Instance
from sluice.pools.estimate.threshold import UpstreamRequest, UpstreamTime
from sluice.pools.learned.condition import DataSize
from sluice.pools.metrics.pool_metric import MetricsReading
from sluice.pools.nearest.query import Candidate
from sluice.pools.section import PoolsSection
from sluice.pools.windows.minutes import Minutes


class WindowsAlone:
    """No services above, no demand, no sizes of data; nobody knows how far a clock is off."""

    def upstream(self, config: PoolsSection, now_ms: int) -> dict[UpstreamRequest, UpstreamTime]:
        return {}

    def demand(self, config: PoolsSection, thresholds_ns: Mapping[PoolKey, int], to_s: int) -> dict[PoolKey, Demand]:
        return {}

    def minutes(self, config: PoolsSection, from_s: int, to_s: int) -> dict[PoolKey, Minutes]:
        return {}

    def data_sizes(self, config: PoolsSection, now_ms: int) -> dict[PoolKey, DataSize]:
        return {}

    def pool_metrics(self, config: PoolsSection, now_ms: int) -> MetricsReading:
        return MetricsReading([], {})

    def candidates(self, services: Iterable[str], now_ms: int) -> list[Candidate]:
        return []

    def clocks(self, config: PoolsSection, now_ms: int) -> Mapping[Instance, int]:
        return {}
