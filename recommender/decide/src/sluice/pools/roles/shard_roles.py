"""The roles of spans of a shard's pools, read every half minute."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sluice.model.keys import PoolKey
from sluice.model.problems import Problems
from sluice.pools.period.source import WindowSource
from sluice.pools.roles.span_roles import SpanRoles
from sluice.pools.section import PoolsSection

EVERY_MS = 30_000


class ShardRoles:
    """After a failed reading, the last ones stay."""

    def __init__(self) -> None:
        self.of: Mapping[PoolKey, SpanRoles] = MappingProxyType({})
        """By pool; pools without spans are missing."""
        self._read_ms: int | None = None

    def look(self, config: PoolsSection, collector: WindowSource, now_ms: int, problems: Problems) -> None:
        """Reads them when due. now_ms: Unix time."""
        if self._read_ms is not None and abs(now_ms - self._read_ms) < EVERY_MS:
            return
        self._read_ms = now_ms
        self.of = problems.result("roles of spans", lambda: collector.span_roles(config, now_ms), self.of)
