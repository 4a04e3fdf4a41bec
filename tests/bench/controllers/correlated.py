"""failsafe-go's adaptive limiter: a queue estimate that drifts, held by correlations of what is in flight.

State: the limit L; the last 5 windows' p90 response times, whose median (each as it is before there are 5) goes into
recent, a running mean over 5 windows; baseline, one of recent over 10 windows; in flight n, recent r and the throughput
n / r of the last 50 windows. A window lasts 1 s, longer until it has 50 samples or twice its shortest response time,
at most 30 s. With l = max(1, floor(log10 L)) and queue = ceil(L (1 - baseline / recent)), each window:

    queue > 6 l
    full and corr(n, n / r) < 0
    full and corr(n, r) > 0.5 and (corr(n, n / r) < 0.3 or CV(n / r) < 0.2)  ->  L - l
    queue < 3 l                                                              ->  L + l

A correlation is 0 with fewer than 10 windows, or where one of the two varies by less than 1 %. Growth stops at 5 n, and
a limit above that goes down by l; within [1, 200]; initial 20. Its defaults. It ignores drops.

Two things it sees more coarsely than in the process: n is `Signal.inflight`, and "full" is asked at the window's end.

Source: adaptivelimiter/adaptivelimiter.go and internal/util of failsafe-go/failsafe-go.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from bench.controllers.average import Average
from bench.controllers.signal import Floats, Signal
from bench.controllers.vegas import step

MEDIAN_OF, RECENT, BASELINE, HISTORY = 5, 5, 10, 50
SAMPLES, SHORTEST_S, LONGEST_S = 50, 1.0, 30.0
LEAST_HISTORY, LEAST_CV = 10, 0.01
MOST_PER_INFLIGHT = 5.0


def variation(x: Floats) -> float:
    """Coefficient of variation, of values > 0."""
    return float(x.std() / x.mean())


def correlation(x: Floats, y: Floats) -> float:
    """Pearson's of values > 0, shape (n,) each; 0 where there are too few of them or one hardly varies."""
    if len(x) < LEAST_HISTORY or min(variation(x), variation(y)) < LEAST_CV:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


@dataclass
class Correlated:
    limit: float = 20.0
    lowest: float = 1.0
    highest: float = 200.0
    enough: int = 1
    period_s: float = 1.0
    recent: Average = field(default_factory=lambda: Average(RECENT))
    baseline: Average = field(default_factory=lambda: Average(BASELINE))
    _durations_s: list[Floats] = field(default_factory=list)
    _inflight: float = 0.0
    _next_s: float = 0.0
    _p90_s: deque[float] = field(default_factory=lambda: deque(maxlen=MEDIAN_OF))
    _history: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=HISTORY))

    def update(self, signal: Signal) -> float:
        """Worked: first window: recent = baseline, queue 0: L = 20 + 1 with 5 in flight or more, 15 with 3."""
        self._durations_s.append(signal.durations_s)
        self._inflight = max(self._inflight, signal.inflight)
        durations_s = np.concatenate(self._durations_s)
        if signal.until_s < self._next_s or len(durations_s) < SAMPLES:
            return self.limit
        self._next_s = signal.until_s + min(max(2 * float(durations_s.min()), SHORTEST_S), LONGEST_S)
        inflight = self._inflight
        self._durations_s, self._inflight = [], 0.0
        recent_s = self.recent.add(self._filtered(float(np.quantile(durations_s, 0.9))))
        queue = ceil(self.limit * (1 - self.baseline.add(recent_s) / recent_s))
        self._history.append((inflight, recent_s))
        self._set(self._capped(self._next(queue, signal.in_use >= signal.sizes[-1]), MOST_PER_INFLIGHT * inflight))
        return self.limit

    def rescale(self, factor: float) -> None:
        self._set(int(self.limit * factor))
        self.recent.reset()
        self.baseline.reset()
        self._p90_s.clear()
        self._history.clear()
        self._durations_s, self._inflight, self._next_s = [], 0.0, 0.0

    def _filtered(self, p90_s: float) -> float:
        self._p90_s.append(p90_s)
        return float(np.median(self._p90_s)) if len(self._p90_s) == MEDIAN_OF else p90_s

    def _next(self, queue: int, full: bool) -> float:
        log = step(self.limit)
        if queue > 6 * log or (full and self._saturated()):
            return self.limit - log
        return self.limit + log if queue < 3 * log else self.limit

    def _saturated(self) -> bool:
        inflight, recent_s = np.array(self._history).T
        throughput = inflight / recent_s
        gain = correlation(inflight, throughput)
        if gain < 0:
            return True
        return correlation(inflight, recent_s) > 0.5 and (gain < 0.3 or variation(throughput) < 0.2)

    def _capped(self, limit: float, cap: float) -> float:
        if limit <= cap:
            return limit
        return self.limit - step(self.limit) if self.limit > cap else cap

    def _set(self, limit: float) -> None:
        self.limit = min(max(limit, self.lowest), self.highest)
