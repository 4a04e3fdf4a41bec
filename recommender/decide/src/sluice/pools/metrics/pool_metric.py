"""The size of one pool of one instance in a metric, over one window."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from sluice.pools.metrics.use import Use


class PoolOfInstance(NamedTuple):
    """The pool of one instance that figures are of."""

    service: str
    instance: str
    side: str
    pool: str
    peer: str


class PoolMetric(NamedTuple):
    """One row of `pool_metrics`.

    side: client, server or executor. pool: as the metric's attributes name it; "" if they do not. peer: of connections,
    as spans would name it; "" where the metric has no address. rank: of the metrics of one pool, the lowest counts.
    series: the metric and its attributes. low, high: the smallest and the largest size in the window; 0 is a pool
    without a limit. first_ms, last_ms: Unix times of the first and last point, by the instance's clock.
    """

    service: str
    instance: str
    side: str
    pool: str
    peer: str
    rank: int
    series: str
    low: int
    high: int
    first_ms: int
    last_ms: int

    @property
    def of(self) -> PoolOfInstance:
        return PoolOfInstance(self.service, self.instance, self.side, self.pool, self.peer)

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.series.partition(" ")[0]

    @property
    def name(self) -> str:
        """The pool's name. A metric that names no pool, as those of database/sql, has its attributes instead; "" where
        it has none either."""
        return self.pool or self.series.partition(" ")[2]

    @property
    def size(self) -> int | None:
        """The one size of the window; None where it changed in it."""
        return self.low if self.low == self.high else None


class MetricsReading(NamedTuple):
    """sizes: oldest first. peers: of the client spans of services whose connection pools name no peer. uses: what is
    used of pools, and who waits."""

    sizes: list[PoolMetric]
    peers: Mapping[str, frozenset[str]]
    uses: Mapping[PoolOfInstance, Use] = MappingProxyType({})
