"""Netflix concurrency-limits, AIMD: a tenth less on a drop or a timeout, one more when at least half full.

State: the limit L, whole, within [1, 200]; initial 20. Each window (`WindowedLimit` around it, 1 s, at least 10
samples), rtt being its mean response time:

    drop, or rtt > timeout  ->  floor(0.9 L)
    2 inflight >= L         ->  L + 1

Two values differ from its defaults, both in its favour: the least limit is 20 there, and the timeout 5 s, which a mean
response time never reaches here; it is given the threshold.

Source: AIMDLimit.java and WindowedLimit.java of Netflix/concurrency-limits.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.controllers.signal import Signal

BACKOFF = 0.9


@dataclass
class Aimd:
    limit: float = 20.0
    lowest: float = 1.0
    highest: float = 200.0
    enough: int = 10
    period_s: float = 1.0

    def update(self, signal: Signal) -> float:
        """Worked, timeout 0.25 s: L 20 at 0.3 s -> 18 -> 16; at 0.1 s with 10 in flight 20 -> 21, with 9 20."""
        limit = self.limit
        if signal.dropped or signal.mean_s > signal.threshold_s:
            limit = int(limit * BACKOFF)
        elif 2 * signal.inflight >= limit:
            limit += 1
        self.limit = min(max(limit, self.lowest), self.highest)
        return self.limit

    def rescale(self, factor: float) -> None:
        self.limit = min(max(int(self.limit * factor), self.lowest), self.highest)
