"""Netflix concurrency-limits, Vegas: estimates the queue from the shortest response time seen.

State: the limit L; rtt0, the least mean response time of a window, taken anew every 15 to 30 L windows (drawn).
With l = max(1, floor(log10 L)) and queue = ceil(L (1 - rtt0 / rtt)), each window (`WindowedLimit`: 1 s, at least 10
samples), rtt being its mean response time:

    drop              ->  L - l
    2 inflight < L    ->  hold
    queue <= l        ->  L + 6 l
    queue < 3 l       ->  L + l
    queue > 6 l       ->  L - l

within [1, 1000]; initial 20. Its defaults.

Source: VegasLimit.java of Netflix/concurrency-limits.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from math import ceil, log10

from bench.controllers.signal import Signal

PROBE = 30.0


def step(limit: float) -> int:
    """9 -> 1, 99 -> 1, 100 -> 2."""
    return max(1, int(log10(limit)))


@dataclass
class Vegas:
    limit: float = 20.0
    lowest: float = 1.0
    highest: float = 1000.0
    enough: int = 10
    period_s: float = 1.0
    random: random.Random = field(default_factory=lambda: random.Random(1))
    rtt0_s: float = 0.0
    _windows: int = 0
    _jitter: float = 0.0

    def __post_init__(self) -> None:
        self._jitter = self.random.uniform(0.5, 1.0)

    def update(self, signal: Signal) -> float:
        """Worked: L 20, rtt0 20 ms, rtt 40 ms, full: queue 10 > 6, L = 19; rtt 22 ms: queue 2 < 3, L = 21."""
        self._windows += 1
        if self._windows >= self._jitter * PROBE * self.limit:
            self._windows, self._jitter = 0, self.random.uniform(0.5, 1.0)
            self.rtt0_s = signal.mean_s
            return self.limit
        if self.rtt0_s == 0 or signal.mean_s < self.rtt0_s:
            self.rtt0_s = signal.mean_s
            return self.limit
        self._set(self._next(signal))
        return self.limit

    def rescale(self, factor: float) -> None:
        self._set(int(self.limit * factor))
        self.rtt0_s, self._windows = 0.0, 0

    def _set(self, limit: float) -> None:
        self.limit = min(max(limit, self.lowest), self.highest)

    def _next(self, signal: Signal) -> float:
        log = step(self.limit)
        if signal.dropped:
            return self.limit - log
        if 2 * signal.inflight < self.limit:
            return self.limit
        queue = ceil(self.limit * (1 - self.rtt0_s / signal.mean_s))
        if queue <= log:
            return self.limit + 6 * log
        if queue < 3 * log:
            return self.limit + log
        return self.limit - log if queue > 6 * log else self.limit
