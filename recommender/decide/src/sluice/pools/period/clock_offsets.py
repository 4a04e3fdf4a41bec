"""Clock offsets of instances, read every ten seconds."""

from __future__ import annotations

import logging

from sluice.model.problems import Problems
from sluice.pools.clocks.offsets import Instance
from sluice.pools.period.source import WindowSource
from sluice.pools.section import PoolsSection

log = logging.getLogger(__name__)

EVERY_MS = 10_000
# Log at most this many clocks that changed at once.
NAMED = 10


class ShardClocks:
    """Offsets of a shard. After a failed reading, the last ones stay. The collector subtracts them from windows."""

    def __init__(self) -> None:
        self.known_ms: dict[Instance, int] = {}
        """How far clocks are ahead, negative: behind; only those that are off."""
        self._read_ms: int | None = None

    def look(self, config: PoolsSection, collector: WindowSource, now_ms: int, problems: Problems) -> None:
        """Reads offsets when due. To be called before windows are collected."""
        if self._read_ms is not None and abs(now_ms - self._read_ms) < EVERY_MS:
            return
        self._read_ms = now_ms
        offsets_ms = problems.result("clocks", lambda: dict(collector.clocks(config, now_ms)), self.known_ms)
        changed = sorted(dict(offsets_ms.items() ^ self.known_ms.items()))
        for instance in changed[:NAMED]:
            log.info("clock offset of %s: now %s", instance, clock(offsets_ms.get(instance, 0)))
        if len(changed) > NAMED:
            log.info("clock offsets of %d more instances changed", len(changed) - NAMED)
        self.known_ms = offsets_ms

    @property
    def farthest_ms(self) -> int:
        return max((abs(ms) for ms in self.known_ms.values()), default=0)


def clock(ms: int) -> str:
    """For example `1.2 s ahead`, `0.5 s behind`, `right`."""
    return f"{abs(ms) / 1000:.1f} s {'ahead' if ms > 0 else 'behind'}" if ms else "right"
