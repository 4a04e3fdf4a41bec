"""How far instances' clocks are off, looked up once in ten seconds."""

from __future__ import annotations

import logging

from sluice.clocks.offsets import Instance
from sluice.config import Config
from sluice.control.collects import Collects
from sluice.model.problems import Problems

log = logging.getLogger(__name__)

EVERY_MS = 10_000
# Of clocks that changed at once so many are named.
NAMED = 10


class ShardClocks:
    """Where they cannot be read, what was known stays. The collector takes them out of what it reads."""

    def __init__(self) -> None:
        self.known_ms: dict[Instance, int] = {}
        """By how much clocks are ahead, below 0 behind, of those that are off."""
        self._asked_ms: int | None = None

    def look(self, config: Config, collector: Collects, now_ms: int, problems: Problems) -> None:
        """Before windows are collected."""
        if self._asked_ms is not None and abs(now_ms - self._asked_ms) < EVERY_MS:
            return
        self._asked_ms = now_ms
        try:
            found = dict(collector.clocks(config, now_ms))
        except Exception as cause:
            problems.failed("clocks", cause)
            return
        problems.succeeded("clocks")
        changed = sorted(dict(found.items() ^ self.known_ms.items()))
        for each in changed[:NAMED]:
            log.info("the clock of %s is taken to be %s", each, clock(found.get(each, 0)))
        if len(changed) > NAMED:
            log.info("the clocks of %d more instances are taken to be otherwise", len(changed) - NAMED)
        self.known_ms = found

    @property
    def farthest_ms(self) -> int:
        return max((abs(ms) for ms in self.known_ms.values()), default=0)


def clock(ms: int) -> str:
    """1.2 s ahead, 0.5 s behind, right."""
    return f"{abs(ms) / 1000:.1f} s {'ahead' if ms > 0 else 'behind'}" if ms else "right"
