"""Pools as a product of the engine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from sluice.engine.product import ProductShard, Takeover
from sluice.pools.codec import PoolsCodec
from sluice.pools.counts import PoolMetrics
from sluice.pools.estimate import libraries
from sluice.pools.period.history import History
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.source import WindowSource
from sluice.pools.policy.prepare import prepare
from sluice.pools.section import PoolsSection
from sluice.pools.shard import PoolsShard

log = logging.getLogger(__name__)


class PoolsProduct:
    """collector: makes the reader of windows of one shard. history: called for a shard without any heartbeat."""

    name, codec = "pools", PoolsCodec()

    def __init__(
        self,
        collector: Callable[[], WindowSource],
        resources: PoolResources,
        history: Callable[[], History] | None = None,
        counts: PoolMetrics | None = None,
    ) -> None:
        self._collector, self._resources, self._history, self._counts = collector, resources, history, counts

    def start(self, config: PoolsSection) -> None:
        libraries.load()
        prepare()
        if len(config.pools) > self._resources.room.most:
            log.warning(
                "%d pools are configured, and %s: raise the memory limit", len(config.pools), self._resources.room
            )
        self._resources.spread.start(len(config.pools))

    def restore(self, takeover: Takeover) -> PoolsShard:
        history = self._history if takeover.heartbeat is None else None
        return PoolsShard(takeover, self._collector(), self._resources, history, self._counts)

    def measure(self, shards: Iterable[ProductShard]) -> None:
        if self._counts is None:
            return
        own = [shard for shard in shards if isinstance(shard, PoolsShard)]
        cases = [case for shard in own for case in shard.alarms.values()]
        self._counts.pools(sum(len(shard.config.pools) for shard in own), cases)
        self._counts.reverting(answer.content for shard in own for answer in shard.answers.values())
        # Each shard reads the offsets of all instances.
        off = max((len(shard.clocks.known_ms) for shard in own), default=0)
        self._counts.critical(self._resources.critical.newest)
        self._counts.clocks(off, max((shard.clocks.farthest_ms for shard in own), default=0))

    def close(self) -> None:
        self._resources.close()
