"""What the shipped actuator makes of an answer: `testbed.actuator` with its defaults, and what it wrote so far."""

from __future__ import annotations

from sluice.pools.publication.publication import Content
from testbed.actuator import Advice, Replica, Rules, Writes, decide

LEASE_MS = 30_000
MOST_KNOWN = 16


class Applied:
    """Of one target; asked once a second, as the actuator looks at its targets."""

    def __init__(self, bounds: tuple[int, int]) -> None:
        self._rules = Rules(*bounds)
        self._writes = Writes()
        self._known: tuple[int, ...] = ()

    def size(self, content: Content, current: int, now_ms: int) -> int | None:
        """What to write over `current`, as it was read back; None when nothing is."""
        basis, reasons = content.basis, content.codes
        answer = Advice(content.action, content.target, now_ms + LEASE_MS, basis=basis, reasons=reasons)
        self._writes = self._writes.read(current).rest(current, self._rules.cooldown_ms, now_ms)
        decision = decide(self._rules, answer, Replica("", current, self._writes, self._known), now_ms)
        if decision.action != "apply":
            return None
        self._known = tuple(dict.fromkeys((current, *self._known)))[:MOST_KNOWN]
        self._writes = self._writes.next(decision.size, now_ms).spend(self._rules.per_hour, now_ms)
        return decision.size
