"""What pools do: a hundred drawn curves, over and over; and a collector that has them in memory."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol

import numpy as np

from bench.controllers.windows_alone import WindowsAlone
from bench.loaded_windows import BUCKETS
from sluice.config import Config
from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.pools.clocks.offsets import Instance
from sluice.pools.discovery.bound import CandidateCourse
from sluice.pools.discovery.candidate import Load
from sluice.pools.estimate.threshold import UpstreamRequest, UpstreamTime
from sluice.pools.metrics.pool_metric import MetricsReading
from sluice.pools.nearest.query import PoolInSpans
from sluice.pools.policy.observation import Buckets
from sluice.pools.roles.span_roles import SpanRoles
from sluice.pools.sampling.verdict import Sampling
from sluice.pools.section import PoolsSection
from sluice.pools.windows import Window
from sluice.pools.windows.complete_buckets import whole
from sluice.pools.windows.minutes import Minutes
from sluice.pools.windows.window import OnDemand
from sluice_kit.decide.humps import Samples, draw_samples, draw_service

# Different curves; the others repeat them.
CURVES = 100
BUCKET_MS = 100
NOW_MS = 1_800_000_000_000
DELAY_MS = 1_000
"""How far behind the newest bucket those in memory are whole; from ClickHouse it is measured, and as much at least."""
FULL_SHARE = 0.2
"""Of the buckets a pool is full in."""


class Collects(Protocol):
    spent_s: float
    """In the newest period; queried_s: of that, before buckets were asked for."""
    queried_s: float

    def database_cpu_s(self) -> float:
        """So far, of all that it does."""
        ...

    def upstream(self, config: Config, now_ms: int) -> dict[UpstreamRequest, UpstreamTime]: ...

    def demand(self, config: Config, thresholds_ns: Mapping[PoolKey, int], to_s: int) -> dict[PoolKey, Demand]: ...

    def minutes(self, config: Config, from_s: int, to_s: int) -> dict[PoolKey, Minutes]: ...

    def loads(self, config: PoolsSection, now_ms: int) -> Sequence[Load]: ...

    def courses(self, config: PoolsSection, pools: Sequence[PoolKey], now_ms: int) -> Sequence[CandidateCourse]: ...

    def pool_metrics(self, config: Config, now_ms: int) -> MetricsReading: ...

    def pools_in_spans(self, services: Iterable[str], now_ms: int) -> list[PoolInSpans]: ...

    def span_roles(self, config: Config, now_ms: int) -> Mapping[PoolKey, SpanRoles]: ...

    def samplings(self, services: Collection[str], now_ms: int) -> Mapping[str, Sampling | None]: ...

    def clocks(self, config: Config, now_ms: int) -> Mapping[Instance, int]: ...

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window: ...


@dataclass(frozen=True)
class Drawn:
    """What a pool does, over and over, and its size."""

    samples: Samples
    size: int

    def last(self, now_ms: int) -> Buckets | None:
        """Its newest buckets, as many as are kept."""
        end = now_ms // BUCKET_MS
        at = np.arange(end - BUCKETS, end)
        sample = at % len(self.samples.concurrency)
        busy_ns = np.maximum(self.samples.concurrency[sample] * BUCKET_MS * 1e6, 1).astype(np.int64)[None]
        completions = self.samples.completions[sample].astype(np.int64)[None]
        nothing = np.zeros_like(completions)
        return whole(at * BUCKET_MS, busy_ns, completions, nothing, now_ms - DELAY_MS, BUCKET_MS)


def draw(curves: int = CURVES) -> list[Drawn]:
    """Bursts up to three times the best size, of which the pool lets in what it has room for."""
    rng = np.random.default_rng(1)
    drawn = []
    for service in (draw_service(rng) for _ in range(curves)):
        samples = draw_samples(rng, service, highest=3.0 * service.best())
        size = max(1, int(np.quantile(samples.concurrency, 1 - FULL_SHARE)))
        done = np.minimum(samples.completions, rng.poisson(service.throughput(np.full(1, float(size))) / 10))
        done = np.where(samples.concurrency > size, done, samples.completions)
        good = np.minimum(samples.goodput_per_s, 10 * done)
        concurrency = np.minimum(samples.concurrency, size)
        drawn.append(Drawn(replace(samples, concurrency=concurrency, completions=done, goodput_per_s=good), size))
    return drawn


@dataclass
class Held(WindowsAlone):
    """Stands in for the collector: windows are in memory, and are summed when they are asked for, as they are there."""

    drawn: list[Drawn]
    spent_s: float = 0.0
    queried_s: float = 0.0

    def database_cpu_s(self) -> float:
        return 0.0

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window:
        self.spent_s = 0.0
        numbers = {pool.key: number for number, pool in enumerate(config.pools)}
        curves = OnDemand(numbers, lambda number: self.drawn[number % CURVES].last(now_ms))
        return Window(OnDemand(numbers, lambda number: None), Timed(self, curves))


@dataclass(frozen=True)
class Timed(Mapping[PoolKey, Buckets | None]):
    """Buckets are made when they are asked for: that is reading too."""

    of: Collects
    windows: Mapping[PoolKey, Buckets | None]

    def __getitem__(self, key: PoolKey) -> Buckets | None:
        begun = perf_counter()
        result = self.windows[key]
        self.of.spent_s += perf_counter() - begun
        return result

    def __iter__(self) -> Iterator[PoolKey]:
        return iter(self.windows)

    def __len__(self) -> int:
        return len(self.windows)
