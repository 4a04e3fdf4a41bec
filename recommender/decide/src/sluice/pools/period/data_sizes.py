"""Data per span, for pools whose size an agent learns, read every ten seconds."""

from __future__ import annotations

from collections.abc import Mapping

from sluice.model.keys import PoolKey
from sluice.model.problems import Problems
from sluice.pools.learned.condition import DataSize
from sluice.pools.period.source import WindowSource
from sluice.pools.section import PoolsSection

EVERY_MS = 10_000


class DataSizes:
    """After a failed reading, the last sizes stay."""

    def __init__(self) -> None:
        self._known: Mapping[PoolKey, DataSize] = {}
        self._read_ms: int | None = None

    def newest(
        self, config: PoolsSection, collector: WindowSource, now_ms: int, problems: Problems
    ) -> Mapping[PoolKey, DataSize]:
        """Data sizes of the pools whose spans have them."""
        if self._read_ms is None or abs(now_ms - self._read_ms) >= EVERY_MS:
            self._read_ms = now_ms
            self._known = problems.result("data sizes", lambda: collector.data_sizes(config, now_ms), self._known)
        return self._known
