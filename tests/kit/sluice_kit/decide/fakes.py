"""Hand-written stand-ins for what the control loop talks to, and ready-made windows."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

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
from sluice.pools.windows import PoolWindow, Window
from sluice.pools.windows.minutes import Minutes
from sluice_kit.decide.feeds import FALLS, Curve
from sluice_kit.decide.humps import samples_of

CART = PoolKey("cart", "server", "")
DB = PoolKey("catalogue", "client", "catalogue-db")
BUCKET_MS = 100


def config(**changes: object) -> Config:
    """Cart and the database of catalogue, periods of 1 s, leases of 30 s."""
    given = Config.model_validate(
        {
            "slos": [{"name": "checkout", "service": "frontend", "latency": "250ms"}],
            "pools": [
                {"service": "cart", "side": "server", "slo": "checkout", "upstream": "20ms"},
                {"service": "catalogue", "side": "client", "peer": "catalogue-db", "threshold": "60ms"},
            ],
        }
    )
    return given.model_copy(update=changes)


def measured(concurrency: np.ndarray, goodput: np.ndarray, end_ms: int = 60_000) -> PoolWindow:
    starts = end_ms - BUCKET_MS * np.arange(len(concurrency), 0, -1)
    return PoolWindow(samples_of(concurrency, goodput), starts.astype(np.int64), BUCKET_MS)


def bursts(highest: float) -> np.ndarray:
    """600 levels of concurrency from 0.5 on, each once, in six bursts that grow from the lowest to the highest."""
    return np.linspace(0.5, highest, 600).reshape(100, 6).T.ravel()


def rising(end_ms: int = 60_000, highest: float = 30) -> PoolWindow:
    """10/s per request in flight, without an end."""
    x = bursts(highest)
    return measured(x, 10 * x, end_ms)


def hump(end_ms: int = 60_000, highest: float = 36, top: float = 12) -> PoolWindow:
    """10/s per request in flight up to `top`, then 5/s less for each one more."""
    x = bursts(highest)
    return measured(x, np.maximum(np.minimum(10 * x, 10 * top - 5 * (x - top)), 0), end_ms)


def glimpse(end_ms: int = 60_000) -> PoolWindow:
    """Too few buckets to say anything."""
    x = np.linspace(0.5, 30, 20)
    return measured(x, 10 * x, end_ms)


class Later(Executor):
    """Runs a job when the test says so."""

    def __init__(self) -> None:
        self._jobs: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, job: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._jobs.append((future, lambda: job(*args, **options)))
        return future

    def run(self) -> int:
        """Runs what waits; returns how many jobs that were."""
        jobs, self._jobs = self._jobs, []
        for future, job in jobs:
            try:
                future.set_result(job())
            except Exception as cause:
                future.set_exception(cause)
        return len(jobs)


class AtOnce(Executor):
    """Does it where it is asked."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as cause:
            future.set_exception(cause)
        return future


@dataclass
class FakeClock:
    """elapsed_s: what passed, whatever the clock was set to."""

    now_ms: int = 1_000_000
    elapsed_s: float = 0.0

    def __call__(self) -> int:
        return self.now_ms

    def pass_s(self, seconds: float) -> None:
        self.elapsed_s += seconds
        self.set_by_s(seconds)

    def set_by_s(self, seconds: float) -> None:
        """Somebody sets it forward, or back."""
        self.now_ms += round(1000 * seconds)


@dataclass
class FakeService:
    """What a pool's windows show while it is `busy` (share of its size in flight) under `curve`; without chance."""

    size: int
    curve: Curve = FALLS
    busy: float = 1.0
    instances: int = 1
    start_ms: list[int] = field(default_factory=list)
    concurrency: list[float] = field(default_factory=list)
    completions: list[float] = field(default_factory=list)

    def works(self, from_ms: int, until_ms: int) -> None:
        """In all buckets that start in [from_ms, until_ms)."""
        in_flight = self.size * self.busy
        for start in range(-(-from_ms // BUCKET_MS) * BUCKET_MS, until_ms, BUCKET_MS):
            self.start_ms.append(start)
            self.concurrency.append(in_flight)
            self.completions.append(self.curve.throughput(in_flight) * BUCKET_MS / 1000 if in_flight else 0.0)

    def whole(self, before_ms: int) -> Buckets:
        count = int(np.searchsorted(self.start_ms, before_ms))
        first = max(0, count - 900)
        part = slice(first, count)
        return Buckets(
            np.array(self.start_ms[part], dtype=np.int64),
            np.array(self.concurrency[part], dtype=np.float64),
            np.array(self.completions[part], dtype=np.float64),
            BUCKET_MS / 1_000,
            instances=np.full(count - first, self.instances),
        )


@dataclass
class FakeCollector:
    """Answers with `pools` and what `services` did up to a second ago, or raises `problem`."""

    pools: dict[PoolKey, PoolWindow | None] = field(default_factory=dict)
    services: dict[PoolKey, FakeService] = field(default_factory=dict)
    asked_ms: list[tuple[int, bool]] = field(default_factory=list)
    problem: Exception | None = None
    thresholds_ns: dict[PoolKey, int] = field(default_factory=dict)
    above: dict[UpstreamRequest, UpstreamTime] = field(default_factory=dict)
    upstream_problem: Exception | None = None
    demands: dict[PoolKey, Demand] = field(default_factory=dict)
    demand_problem: Exception | None = None
    minutes_of: dict[PoolKey, Minutes] = field(default_factory=dict)
    minutes_problem: Exception | None = None
    minutes_asked_s: list[tuple[int, int]] = field(default_factory=list)
    shown: list[Load] = field(default_factory=list)
    shown_problem: Exception | None = None
    shown_courses: dict[PoolKey, CandidateCourse] = field(default_factory=dict)
    metrics: MetricsReading = field(default_factory=lambda: MetricsReading([], {}))
    metrics_problem: Exception | None = None
    in_spans: list[PoolInSpans] = field(default_factory=lambda: [PoolInSpans(key, 1, ()) for key in (CART, DB)])
    in_spans_asked: list[tuple[str, ...]] = field(default_factory=list)
    in_spans_problem: Exception | None = None
    roles: dict[PoolKey, SpanRoles] = field(default_factory=dict)
    sampled: dict[str, Sampling] = field(default_factory=dict)
    ahead_ms: dict[Instance, int] = field(default_factory=dict)
    clocks_problem: Exception | None = None
    clocks_asked_ms: list[int] = field(default_factory=list)

    def upstream(self, config: PoolsSection, now_ms: int) -> dict[UpstreamRequest, UpstreamTime]:
        if self.upstream_problem is not None:
            raise self.upstream_problem
        return self.above

    def demand(self, config: PoolsSection, thresholds_ns: Mapping[PoolKey, int], to_s: int) -> dict[PoolKey, Demand]:
        if self.demand_problem is not None:
            raise self.demand_problem
        return {key: replace(demand, until_ms=1000 * to_s) for key, demand in self.demands.items()}

    def minutes(self, config: PoolsSection, from_s: int, to_s: int) -> dict[PoolKey, Minutes]:
        self.minutes_asked_s.append((from_s, to_s))
        if self.minutes_problem is not None:
            raise self.minutes_problem
        by_pool = {}
        for key, of in self.minutes_of.items():
            at = (of.start_s >= from_s) & (of.start_s < to_s)
            by_pool[key] = Minutes(of.start_s[at], of.in_flight[at], of.p95_ms[at], of.p99_ms[at])
        return by_pool

    def loads(self, config: PoolsSection, now_ms: int) -> Sequence[Load]:
        if self.shown_problem is not None:
            raise self.shown_problem
        return self.shown

    def courses(self, config: PoolsSection, pools: Sequence[PoolKey], now_ms: int) -> Sequence[CandidateCourse]:
        return [self.shown_courses[key] for key in pools]

    def pool_metrics(self, config: PoolsSection, now_ms: int) -> MetricsReading:
        if self.metrics_problem is not None:
            raise self.metrics_problem
        return self.metrics

    def pools_in_spans(self, services: Iterable[str], now_ms: int) -> list[PoolInSpans]:
        self.in_spans_asked.append(tuple(services))
        if self.in_spans_problem is not None:
            raise self.in_spans_problem
        return self.in_spans

    def span_roles(self, config: PoolsSection, now_ms: int) -> Mapping[PoolKey, SpanRoles]:
        return self.roles

    def samplings(self, services: Collection[str], now_ms: int) -> Mapping[str, Sampling | None]:
        return {name: self.sampled.get(name) for name in services}

    def clocks(self, config: PoolsSection, now_ms: int) -> Mapping[Instance, int]:
        self.clocks_asked_ms.append(now_ms)
        if self.clocks_problem is not None:
            raise self.clocks_problem
        return self.ahead_ms

    def collect(
        self, config: PoolsSection, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True
    ) -> Window:
        self.thresholds_ns = thresholds_ns
        self.asked_ms.append((now_ms, live))
        if self.problem is not None:
            raise self.problem
        measured = {pool.key: self.pools.get(pool.key) for pool in config.pools}
        return Window(measured, {key: service.whole(now_ms - 1_000) for key, service in self.services.items()})
