"""Netflix concurrency-limits, AIMD: a tenth less on a drop or a timeout, one more when at least half full.

State: the limit L, within [1, 200]; initial 20. Two values differ from its defaults, both in its favour: the least
limit is 20 there, and the timeout 5 s, which a mean response time never reaches here; it is given the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.controllers.signal import Signal

BACKOFF = 0.9


@dataclass
class Aimd:
    timeout_s: float
    limit: float = 20.0
    lowest: float = 1.0
    highest: float = 200.0
    enough: int = 10

    def update(self, seen: Signal) -> float:
        """Worked, timeout 0.25 s: L 20 at 0.3 s -> 18; at 0.1 s with 10 in flight -> 21, with 9 -> 20."""
        limit = self.limit
        if seen.dropped or seen.mean_s > self.timeout_s:
            limit *= BACKOFF
        elif 2 * seen.inflight >= limit:
            limit += 1
        self.limit = min(max(limit, self.lowest), self.highest)
        return self.limit
