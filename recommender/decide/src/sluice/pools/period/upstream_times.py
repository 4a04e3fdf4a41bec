"""Times in the services above pools, read every five seconds."""

from __future__ import annotations

from collections.abc import Mapping

from sluice.model.problems import Problems
from sluice.pools.estimate.threshold import UpstreamRequest, UpstreamTime
from sluice.pools.period.source import WindowSource
from sluice.pools.section import PoolsSection

# Critical paths come in windows of 10 s.
EVERY_MS = 5_000


class ShardUpstreamTimes:
    """Of a shard's pools. After a failed reading there are none until the next one: thresholds keep what they know."""

    def __init__(self) -> None:
        self._times: Mapping[UpstreamRequest, UpstreamTime] = {}
        self._config: PoolsSection | None = None
        self._read_ms = 0

    def of(
        self, config: PoolsSection, collector: WindowSource, now_ms: int, problems: Problems
    ) -> Mapping[UpstreamRequest, UpstreamTime]:
        """Reads them when due, and at once for another configuration."""
        if config is not self._config or abs(now_ms - self._read_ms) >= EVERY_MS:
            none: dict[UpstreamRequest, UpstreamTime] = {}
            self._config, self._read_ms = config, now_ms
            self._times = problems.result("upstream times", lambda: collector.upstream(config, now_ms), none)
        return self._times
