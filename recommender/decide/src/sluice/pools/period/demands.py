"""Demand on each pool, read every ten seconds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.model.problems import Problems
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.period.source import WindowSource
from sluice.pools.section import PoolsSection
from sluice.pools.windows.demand import until_s

# It takes 0.6 ms to judge a full pool by a reading, so many pools are spread over the periods of this time.
TAKES_MS, AT_ONCE = 8_000, 100


class Demands:
    """Without demand there is no hardware advice; sizes are decided all the same."""

    def __init__(self) -> None:
        self._until_s = 0
        self._read_ms = self._count = 0
        self._waiting: dict[PoolKey, Demand] = {}

    def newest(
        self,
        config: PoolsSection,
        collector: WindowSource,
        thresholds: Mapping[PoolKey, Threshold],
        now_ms: int,
        problems: Problems,
    ) -> dict[PoolKey, Demand]:
        """Due demands that were not returned yet, of a minute each. After a failed reading, none."""
        to_s = until_s(now_ms)
        if to_s > self._until_s:
            self._until_s = to_s
            thresholds_ns = {key: threshold.value_ns for key, threshold in thresholds.items()}
            self._waiting = problems.result(
                "demand", lambda: dict(collector.demand(config, thresholds_ns, to_s)), dict[PoolKey, Demand]()
            )
            self._read_ms, self._count = now_ms, len(self._waiting)
        return self._next(now_ms)

    def _next(self, now_ms: int) -> dict[PoolKey, Demand]:
        given = self._count - len(self._waiting)
        share = min(1.0, (now_ms - self._read_ms) / TAKES_MS)
        count = max(AT_ONCE, round(share * self._count)) - given
        demands = dict(islice(self._waiting.items(), max(0, count)))
        for key in demands:
            del self._waiting[key]
        return demands
