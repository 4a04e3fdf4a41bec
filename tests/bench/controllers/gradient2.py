"""Netflix concurrency-limits, Gradient2: compares the response time with its own long average.

State: the limit L; long, an exponential mean of the window's mean response time over 600 windows, a plain mean of the
first 10. Each window (`WindowedLimit`: 1 s, at least 10 samples), short being its mean response time:

    long / short > 2  ->  long = 0.95 long                      (recovers after an overload)
    inflight < L / 2  ->  hold
    g = clamp(1.5 long / short, 0.5, 1);  L = 0.8 L + 0.2 (L g + 4), within [1, 200]

Its defaults but for the least limit, 20 there: the cart's best size lies below. It knows no drops.

Source: Gradient2Limit.java and ExpAvgMeasurement.java of Netflix/concurrency-limits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.controllers.average import Average
from bench.controllers.signal import Signal

LONG_WINDOWS = 600
TOLERANCE, SMOOTHING, QUEUE = 1.5, 0.2, 4.0


@dataclass
class Gradient2:
    limit: float = 20.0
    lowest: float = 1.0
    highest: float = 200.0
    enough: int = 10
    period_s: float = 1.0
    long: Average = field(default_factory=lambda: Average(LONG_WINDOWS))

    def update(self, signal: Signal) -> float:
        """Worked: L 20, long 20 ms, short 60 ms, full: g = 0.5, L = 16 + 0.2 (10 + 4) = 18.8."""
        ratio = self.long.add(signal.mean_s) / signal.mean_s
        if ratio > 2:
            self.long.value *= 0.95
        if signal.inflight < self.limit / 2:
            return self.limit
        gradient = min(max(TOLERANCE * ratio, 0.5), 1.0)
        self._set((1 - SMOOTHING) * self.limit + SMOOTHING * (self.limit * gradient + QUEUE))
        return self.limit

    def rescale(self, factor: float) -> None:
        self._set(self.limit * factor)
        self.long.reset()

    def _set(self, limit: float) -> None:
        self.limit = min(max(limit, self.lowest), self.highest)
