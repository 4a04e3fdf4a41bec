"""Reads the newest windows of all pools, and the time in services upstream of them: the only I/O of a decision."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from sluice.clickhouse.database import ArrayDatabase
from sluice.fast.changed import changed
from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.pools.clocks import offsets
from sluice.pools.clocks.offsets import Clocks, Instance
from sluice.pools.discovery import query as discovery_query
from sluice.pools.discovery.bound import CandidateCourse
from sluice.pools.discovery.candidate import Load
from sluice.pools.estimate.threshold import UpstreamRequest, UpstreamTime
from sluice.pools.metrics import query as metrics_query
from sluice.pools.metrics.pool_metric import MetricsReading
from sluice.pools.nearest import query as nearest_query
from sluice.pools.nearest.query import PoolInSpans
from sluice.pools.policy.observation import Buckets
from sluice.pools.roles import query as roles_query
from sluice.pools.roles.span_roles import SpanRoles
from sluice.pools.sampling import query as sampling_query
from sluice.pools.sampling.verdict import Sampling
from sluice.pools.section import PoolsSection
from sluice.pools.windows import demand, minutes, upstream
from sluice.pools.windows.callees import CalleeReader
from sluice.pools.windows.complete_buckets import alone, whole
from sluice.pools.windows.delay import LONGEST_MS, NEVER, Arrivals, Delay
from sluice.pools.windows.good import with_good
from sluice.pools.windows.minutes import Minutes
from sluice.pools.windows.newest import fixed_settle_ms, newest
from sluice.pools.windows.reading import WindowReader
from sluice.pools.windows.rows import Ints, PoolWindow, complete_before
from sluice.pools.windows.window import OnDemand, Window

# Room in front of the window for late spans: spans whose peer only traces show come about 6 s after the others.
LATE_MS = 10_000


class Collector:
    """Makes one query per call and kind of pool for new rows, whatever the number of pools; more only for pools that
    are read whole. It keeps the rows of the window, their delay, and the bucket length of each pool where the data
    choose it.

    It raises the database's errors: the caller handles a period without data.
    """

    def __init__(self, database: ArrayDatabase, beside: ArrayDatabase | None = None) -> None:
        """beside: for readings in parallel to control periods; None: there are none."""
        self._database, self._beside = database, beside or database
        self._reading = WindowReader(database)
        self._callees = CalleeReader(database)
        self._delay = Delay(0, 1)
        self._intervals_ms: dict[PoolKey, int] = {}
        self._readings = 0
        self._clocks = Clocks()

    @property
    def kept_bytes(self) -> int:
        """Memory of the kept rows, bytes."""
        return self._reading.ring.nbytes + self._callees.nbytes

    def upstream(self, config: PoolsSection, now_ms: int) -> dict[UpstreamRequest, UpstreamTime]:
        """Time in the services upstream of pools, where a pool asks for it and enough traces lead to it. {} without a
        query where none asks."""
        keys = upstream.keys(config, now_ms)
        if not keys.rows:
            return {}
        return upstream.times(self._database.arrays(upstream.SQL, upstream.parameters(keys, now_ms), keys), config)

    def demand(self, config: PoolsSection, thresholds_ns: Mapping[PoolKey, int], to_s: int) -> dict[PoolKey, Demand]:
        """The demand on each server and client pool in the minute up to `to_s`, Unix time."""
        keys = demand.keys(config, thresholds_ns)
        if not keys.rows:
            return {}
        return demand.demands(self._database.arrays(demand.SQL, demand.parameters(config, to_s), keys), config, to_s)

    def minutes(self, config: PoolsSection, from_s: int, to_s: int) -> dict[PoolKey, Minutes]:
        """The minutes from `from_s` to `to_s`, Unix times, of each pool with a derived threshold. Other methods may run
        at the same time."""
        keys = minutes.keys(config)
        if not keys.rows:
            return {}
        columns = self._beside.arrays(minutes.SQL, minutes.parameters(config, from_s, to_s), keys)
        return minutes.minutes(columns, config) if columns else {}

    def loads(self, config: PoolsSection, now_ms: int) -> Sequence[Load]:
        """The candidates that spans of five minutes show."""
        return discovery_query.loads(self._database, now_ms, config.stored_ms)

    def courses(self, config: PoolsSection, pools: Sequence[PoolKey], now_ms: int) -> Sequence[CandidateCourse]:
        """The course of each of these candidates over five minutes."""
        return discovery_query.courses(self._database, pools, now_ms, config.stored_ms)

    def pool_metrics(self, config: PoolsSection, now_ms: int) -> MetricsReading:
        """The sizes of pools of the configured services that agents sent as metrics in the newest three minutes."""
        return metrics_query.pool_metrics(self._beside, (pool.service for pool in config.pools), now_ms)

    def pools_in_spans(self, services: Iterable[str], now_ms: int) -> list[PoolInSpans]:
        """The candidate pools of the newest ten minutes, those with most requests first. services: () for all."""
        return nearest_query.pools_in_spans(self._database, services, now_ms)

    def span_roles(self, config: PoolsSection, now_ms: int) -> Mapping[PoolKey, SpanRoles]:
        """What rules say of the spans of the configured services' pools, in three of the newest minutes."""
        return roles_query.span_roles(self._database, (pool.service for pool in config.pools), now_ms)

    def samplings(self, services: Collection[str], now_ms: int) -> Mapping[str, Sampling | None]:
        """Whether the spans of services that have some are a sample; None where they are all there."""
        return sampling_query.samplings(self._database, services, now_ms)

    def clocks(self, config: PoolsSection, now_ms: int) -> Mapping[Instance, int]:
        """The offsets of clocks that are off, ms ahead. What is collected from now on is corrected by them."""
        columns = self._database.columns(offsets.SQL, offsets.parameters(now_ms))
        self._clocks.take(offsets.delays_of(columns) if columns else {}, config.stored_ms)
        return self._clocks.offsets_ms

    def collect(
        self, config: PoolsSection, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True
    ) -> Window:
        """The window at `now_ms`; the window that it returned before is invalid from now on.

        thresholds_ns: of the pools that are to be judged. For others only their own rows are read, and no bucket has
        its completions in time.
        live: False when `now_ms` lies in the past, as for a decider that catches up after it was away. It goes on in
        steps of a window at most up to the present, and misses nothing, since more than a window is read.
        """
        fixed_ms = fixed_settle_ms(config)
        late_ms = LONGEST_MS if fixed_ms is None else LATE_MS + fixed_ms
        keys = [pool.key for pool in config.pools]
        thresholds = [thresholds_ns.get(key) for key in keys]
        from_ms = now_ms - int(config.window) - late_ms
        self._readings += 1
        arrivals = self._reading.read(keys, thresholds, from_ms, now_ms, config.stored_ms, self._clocks.offsets_ms)
        clocks_ms = self._clocks.offsets_ms
        self._callees.read(keys, (from_ms, now_ms), config.stored_ms, clocks_ms, fixed_ms, live)
        if fixed_ms is None:
            settle_ms, before_ms = self._measured(arrivals, now_ms, live, config.stored_ms)
        else:
            settle_ms = np.full(len(keys), fixed_ms)
            before_ms = np.where(arrivals.newest_ms == NEVER, NEVER, arrivals.newest_ms - fixed_ms)
        return self._window(config, thresholds_ns.keys(), now_ms, settle_ms, before_ms)

    def _measured(self, arrivals: Arrivals, now_ms: int, live: bool, stored_ms: int) -> tuple[Ints, Ints]:
        if arrivals.anew:
            self._delay = Delay(len(arrivals.newest_ms), stored_ms)
        self._delay.grow(len(arrivals.newest_ms))
        self._delay.take(arrivals, now_ms, live)
        return self._delay.settle_ms, self._delay.complete_before(now_ms)

    def _window(
        self, config: PoolsSection, judged: Collection[PoolKey], now_ms: int, settle_ms: Ints, before_ms: Ints
    ) -> Window:
        """settle_ms, before_ms: of each pool; buckets that start before `before_ms` are complete."""
        bucket_ms, number_of_reading = config.stored_ms, self._readings
        numbers = {pool.key: number for number, pool in enumerate(config.pools)}
        automatic = {pool.key for pool in config.pools if config.bucket_of(pool) == "auto"}
        # A length that the data chose holds over periods without data, and not over a restart.
        self._intervals_ms = {key: ms for key, ms in self._intervals_ms.items() if key in automatic}

        def reading() -> WindowReader:
            if self._readings != number_of_reading:
                raise RuntimeError("read a window that is over: a later reading replaced its rows")
            return self._reading

        def measured_of(number: int) -> PoolWindow | None:
            pool, rows = config.pools[number], reading().rows(number)
            border_ms = complete_before(rows, now_ms, int(settle_ms[number]))
            if border_ms is not None:
                border_ms = min(border_ms, int(before_ms[number]))
            window = newest(rows, pool, config, border_ms, self._intervals_ms.get(pool.key))
            if window is not None and pool.key in automatic:
                self._intervals_ms[pool.key] = window.bucket_ms
            return window

        def known(number: int, buckets: Buckets | None) -> Buckets | None:
            newest_ms = int(before_ms[number] + settle_ms[number])
            return None if buckets is None else changed(buckets, known_ms=float(newest_ms + bucket_ms))

        def whole_of(number: int) -> Buckets | None:
            return known(number, whole(*reading().own(number), int(before_ms[number]), bucket_ms))

        def judged_since(key: PoolKey, buckets: Buckets, since_ms: int) -> Buckets:
            new = buckets.since(since_ms)
            if len(new) == 0 or buckets.instances is None:
                return new
            if key in judged:
                number = numbers[key]
                rows = reading().rows(number, int(new.start_ms[0]))
                new = with_good(new, rows, reading().called(number), bucket_ms)
            return changed(new, waiting=self._callees.waiting(key, new.start_ms, buckets.instances))

        def by_instance(key: PoolKey, instances: Collection[str]) -> dict[str, Buckets]:
            number = numbers[key]
            rows = {name: reading().own_instance(number, name) for name in instances}
            alone_of = {name: alone(*one, int(before_ms[number]), bucket_ms) for name, one in rows.items() if one}
            return {name: with_end for name, one in alone_of.items() if (with_end := known(number, one)) is not None}

        measured = {key: number for key, number in numbers.items() if key in judged}
        return Window(OnDemand(measured, measured_of), OnDemand(numbers, whole_of), by_instance, judged_since)
