"""A decider's interface to windows and other measurements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

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
from sluice.pools.windows import Window
from sluice.pools.windows.minutes import Minutes


class WindowSource(Protocol):
    """Methods raise the database's errors."""

    def upstream(self, config: PoolsSection, now_ms: int) -> dict[UpstreamRequest, UpstreamTime]: ...

    def demand(
        self, config: PoolsSection, thresholds_ns: Mapping[PoolKey, int], to_s: int
    ) -> dict[PoolKey, Demand]: ...

    def minutes(self, config: PoolsSection, from_s: int, to_s: int) -> dict[PoolKey, Minutes]: ...

    def loads(self, config: PoolsSection, now_ms: int) -> Sequence[Load]: ...

    def courses(self, config: PoolsSection, pools: Sequence[PoolKey], now_ms: int) -> Sequence[CandidateCourse]: ...

    def pool_metrics(self, config: PoolsSection, now_ms: int) -> MetricsReading: ...

    def pools_in_spans(self, services: Iterable[str], now_ms: int) -> list[PoolInSpans]: ...

    def span_roles(self, config: PoolsSection, now_ms: int) -> Mapping[PoolKey, SpanRoles]: ...

    def samplings(self, services: Collection[str], now_ms: int) -> Mapping[str, Sampling | None]: ...

    def clocks(self, config: PoolsSection, now_ms: int) -> Mapping[Instance, int]: ...

    def collect(
        self, config: PoolsSection, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True
    ) -> Window: ...
