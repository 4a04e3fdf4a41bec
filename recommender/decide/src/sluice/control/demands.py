"""What is asked of each server pool, looked up once in ten seconds."""

from __future__ import annotations

from collections.abc import Mapping

from sluice.collect.demand import until_s
from sluice.config import Config
from sluice.control.collects import Collects
from sluice.control.problems import Problems
from sluice.core.keys import PoolKey
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.policy.observation import Demand


class Demands:
    """Without it nothing is said of the hardware; sizes are decided all the same."""

    def __init__(self) -> None:
        self._until_s = 0

    def newest(
        self,
        config: Config,
        collector: Collects,
        thresholds: Mapping[PoolKey, Threshold],
        now_ms: int,
        problems: Problems,
    ) -> dict[PoolKey, Demand]:
        """Those of a minute that was not asked for yet, {} where there is none. One that cannot be read is left out."""
        to_s = until_s(now_ms)
        if to_s <= self._until_s:
            return {}
        self._until_s = to_s
        try:
            found = collector.demand(config, {key: each.value_ns for key, each in thresholds.items()}, to_s)
        except Exception as cause:
            problems.failed("demand", cause)
            return {}
        problems.succeeded("demand")
        return found
