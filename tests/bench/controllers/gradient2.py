"""Netflix concurrency-limits, Gradient2: compares the response time with its own long average.

State: the limit L; long, an exponential mean of the window's mean response time over 600 windows, a plain mean of the
first 10. Each window, short being its mean response time:

    long / short > 2  ->  long = 0.95 long                      (recovers after an overload)
    inflight < L / 2  ->  hold
    g = clamp(1.5 long / short, 0.5, 1);  L = 0.8 L + 0.2 (L g + 4), within [1, 200]

Its defaults but for the least limit, 20 there: the cart's best size lies below. It knows no drops.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.controllers.signal import Signal

LONG_WINDOWS, WARM_UP = 600, 10
TOLERANCE, SMOOTHING, QUEUE = 1.5, 0.2, 4.0


@dataclass
class Gradient2:
    limit: float = 20.0
    lowest: float = 1.0
    highest: float = 200.0
    enough: int = 10
    long_s: float = 0.0
    _count: int = 0

    def update(self, seen: Signal) -> float:
        """Worked: L 20, long 20 ms, short 60 ms, full: g = 0.5, L = 16 + 0.2 (10 + 4) = 18.8."""
        short = seen.mean_s
        self._count += 1
        share = 1 / self._count if self._count <= WARM_UP else 2 / (LONG_WINDOWS + 1)
        self.long_s += share * (short - self.long_s)
        ratio = self.long_s / short
        if ratio > 2:
            self.long_s *= 0.95
        if seen.inflight < self.limit / 2:
            return self.limit
        gradient = min(max(TOLERANCE * ratio, 0.5), 1.0)
        limit = (1 - SMOOTHING) * self.limit + SMOOTHING * (self.limit * gradient + QUEUE)
        self.limit = min(max(limit, self.lowest), self.highest)
        return self.limit
