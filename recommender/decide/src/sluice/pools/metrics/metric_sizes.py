"""The sizes of pools by metrics at any time of the window, and what is used of them, read every ten seconds."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from types import MappingProxyType

from sluice.model.keys import PoolKey
from sluice.pools.inputs.occupancy import OccupancyReport
from sluice.pools.inputs.sizes import SizeReport, Sizes, TargetSize
from sluice.pools.metrics.matching import Matches, matches
from sluice.pools.metrics.pool_metric import MetricsReading, PoolMetric
from sluice.pools.metrics.query import FRESH_MS
from sluice.pools.metrics.use import Use, report_of
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.source import WindowSource
from sluice.pools.section import PoolsSection

EVERY_MS = 10_000
# The name of the target that stands for each instance.
EACH = "(each instance)"
ACTIVITY = "sizes from metrics"


class MetricSizes:
    """After a failed reading the last sizes stay, until they are older than FRESH_MS."""

    def __init__(self) -> None:
        self._sizes: dict[PoolKey, Sizes] = {}
        self._until_ms: dict[tuple[PoolKey, str], int] = {}
        self._read_ms: int | None = None
        self._reading: tuple[PoolsSection, Future[MetricsReading]] | None = None
        self._bounded: dict[PoolKey, Sizes] = {}
        self._uses: Mapping[PoolKey, Mapping[str, Use]] = {}
        self._reports: dict[tuple[PoolKey, str, int | None, float], OccupancyReport | None] = {}
        self.doubts: Mapping[PoolKey, str] = MappingProxyType({})
        """Why a pool has no size, although its service's metrics have sizes that may be its own."""

    def look(self, config: PoolsSection, collector: WindowSource, now_ms: int, resources: PoolResources) -> None:
        """Begins a reading beside the periods where the last one is ten seconds old, and takes one that ended. now_ms:
        Unix time."""
        if self._reading is None and (self._read_ms is None or abs(now_ms - self._read_ms) >= EVERY_MS):
            self._read_ms = now_ms
            self._reading = config, resources.background.submit(collector.pool_metrics, config, now_ms)
        if self._reading is not None and self._reading[1].done():
            (read, future), self._reading = self._reading, None
            nothing: MetricsReading | None = None
            metrics = resources.problems.result(ACTIVITY, future.result, nothing)
            if metrics is not None:
                self.take(matches(read.pools, metrics), now_ms)

    def take(self, matched: Matches, now_ms: int) -> None:
        """Replaces what is known of pools. A pool that is in doubt, or gone, has no size from now on."""
        self.doubts, self._uses, self._reports = matched.doubts, matched.uses, {}
        self._sizes = {key: self._sizes.get(key, Sizes(FRESH_MS)) for key in matched.sizes}
        self._until_ms = {(key, name): at for (key, name), at in self._until_ms.items() if key in matched.sizes}
        for key, rows in matched.sizes.items():
            for row in rows:
                self._report(key, row, now_ms)

    def take_bounds(self, bounds: Mapping[PoolKey, int], now_ms: int) -> None:
        """Replaces the sizes that only a bound of concurrency shows."""
        self._bounded = {key: self._bounded.get(key, Sizes(FRESH_MS)) for key in bounds}
        for key, size in bounds.items():
            self._bounded[key].report(key, SizeReport(size, now_ms, EACH))

    def sizes(self, key: PoolKey) -> Sizes | None:
        """The pool's sizes; None where neither its metrics nor a bound have any."""
        return self._sizes.get(key) or self._bounded.get(key)

    def targets(self, key: PoolKey, now_ms: int, after_ms: int = 0) -> tuple[TargetSize, ...]:
        """The newest size of each instance whose metric is of a later time than `after_ms`, ordered by instance."""
        return _unactuated(key, self._sizes.get(key), now_ms, after_ms)

    def bounded(self, key: PoolKey, now_ms: int) -> tuple[TargetSize, ...]:
        """The size that only a bound of concurrency shows, as one target that stands for each instance."""
        return _unactuated(key, self._bounded.get(key), now_ms)

    def uses(self, key: PoolKey) -> Mapping[str, Use]:
        """What is used of the pool, by instance."""
        return self._uses.get(key, {})

    def with_occupancy(self, key: PoolKey, target: TargetSize, since_ms: float) -> TargetSize:
        """The target with the occupancy that its metrics have, where it reports none. since_ms: since when it has its
        size."""
        if target.occupancy or (use := self.uses(key).get(target.instance)) is None:
            return target
        name = (key, target.instance, target.size, since_ms)
        if name not in self._reports:
            self._reports[name] = report_of(use, target.size, since_ms)
        report = self._reports[name]
        return target if report is None else replace(target, occupancy=(report,))

    def _report(self, key: PoolKey, row: PoolMetric, now_ms: int) -> None:
        """Reports the first and the last point of a window that are new. A window in which the size changed reports
        none: the next one shows the new size, and the time between is unknown."""
        if row.size is None:
            return
        until_ms = self._until_ms.get((key, row.instance), 0)
        for at_ms in (row.first_ms, row.last_ms):
            at_ms = min(at_ms, now_ms)  # an instance's clock may be ahead
            if at_ms > until_ms:
                self._sizes[key].report(key, SizeReport(row.size or None, at_ms, row.instance))
                self._until_ms[key, row.instance] = until_ms = at_ms


def _unactuated(key: PoolKey, sizes: Sizes | None, now_ms: int, after_ms: int = 0) -> tuple[TargetSize, ...]:
    newest = () if sizes is None else sizes.targets(key, now_ms)
    return tuple(replace(target, from_metrics=True) for target in newest if target.read_at_ms > after_ms)
