"""What a decider asks for windows."""

from __future__ import annotations

from typing import Protocol

from sluice.collect import Window
from sluice.config import Config
from sluice.core.keys import PoolKey
from sluice.pools.estimate.threshold import Asked, UpstreamTime


class Collects(Protocol):
    """Raises what the database raises."""

    def upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]: ...

    def collect(self, config: Config, thresholds_ns: dict[PoolKey, int], now_ms: int, live: bool = True) -> Window: ...
