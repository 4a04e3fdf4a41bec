"""Stands in for the collector where only a pool's own windows are known."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.pools.clocks.offsets import Instance
from sluice.pools.discovery.bound import CandidateCourse
from sluice.pools.discovery.candidate import Load
from sluice.pools.estimate.threshold import UpstreamRequest, UpstreamTime
from sluice.pools.metrics.pool_metric import MetricsReading
from sluice.pools.nearest.query import PoolInSpans
from sluice.pools.roles.span_roles import SpanRoles
from sluice.pools.sampling.verdict import Sampling
from sluice.pools.section import PoolsSection
from sluice.pools.windows.minutes import Minutes


class WindowsAlone:
    """No services above, no demand, no candidates; nobody knows how far a clock is off."""

    def upstream(self, config: PoolsSection, now_ms: int) -> dict[UpstreamRequest, UpstreamTime]:
        return {}

    def demand(self, config: PoolsSection, thresholds_ns: Mapping[PoolKey, int], to_s: int) -> dict[PoolKey, Demand]:
        return {}

    def minutes(self, config: PoolsSection, from_s: int, to_s: int) -> dict[PoolKey, Minutes]:
        return {}

    def loads(self, config: PoolsSection, now_ms: int) -> Sequence[Load]:
        return []

    def courses(self, config: PoolsSection, pools: Sequence[PoolKey], now_ms: int) -> Sequence[CandidateCourse]:
        return []

    def pool_metrics(self, config: PoolsSection, now_ms: int) -> MetricsReading:
        return MetricsReading([], {})

    def pools_in_spans(self, services: Iterable[str], now_ms: int) -> list[PoolInSpans]:
        return []

    def span_roles(self, config: PoolsSection, now_ms: int) -> Mapping[PoolKey, SpanRoles]:
        return {}

    def samplings(self, services: Collection[str], now_ms: int) -> Mapping[str, Sampling | None]:
        return {}

    def clocks(self, config: PoolsSection, now_ms: int) -> Mapping[Instance, int]:
        return {}
