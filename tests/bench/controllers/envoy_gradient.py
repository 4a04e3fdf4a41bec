"""Envoy's adaptive concurrency, the gradient controller: a shortest response time that it measures by throttling.

State: the limit L, initial 3; minRTT; when to measure it next. Every 100 ms, rtt being the median response time since:

    g = clamp(1.25 minRTT / rtt, 0.5, 2);  L = floor(g L + sqrt(g L)), within [3, 1000]

Measuring: at the start, then every 60 s and up to 15 % more (drawn), and after 5 updates in a row at 3, L is set to 3
until 50 requests have completed that began under it; their median is minRTT, and L is what it was before.

Its defaults (buffer 25 %, p50, 50 requests, 15 %, 3, 1000); the two intervals have none, these are those of its
documentation's example. 3 is both its floor and what it measures at. There a request beyond the limit is refused, here
it waits. A window tells the order of its requests' ends and not their times: they are taken as evenly spaced.

Source: gradient_controller.cc and adaptive_concurrency.proto (v3) of envoyproxy/envoy.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from bench.controllers.signal import Floats, Signal

BUFFER, JITTER, REQUESTS = 0.25, 0.15, 50
LONG_AT_FLOOR = 5


@dataclass
class EnvoyGradient:
    limit: float = 3.0
    lowest: float = 3.0
    highest: float = 1000.0
    enough: int = 1
    period_s: float = 0.1
    interval_s: float = 60.0
    random: random.Random = field(default_factory=lambda: random.Random(1))
    min_rtt_s: float = 0.0
    deferred: float | None = 3.0
    """While minRTT is measured: the limit to return to."""
    _pinned_s: float | None = None
    _durations_s: list[Floats] = field(default_factory=list)
    _measure_s: float = 0.0
    _at_floor: int = 0

    def update(self, signal: Signal) -> float:
        """Worked: L 20, minRTT 10 ms: at 12.5 ms g = 1, L = 20 + 4.47 = 24; at 50 ms g = 0.5, L = 10 + 3.16 = 13."""
        if self.deferred is not None:
            self._measure(signal)
        elif not self._throttled(signal):
            self._pinned_s = None
            self._sample(signal.quantile_s(0.5))
            if signal.until_s >= self._measure_s or self._at_floor >= LONG_AT_FLOOR:
                self._pin(self.limit)
        return self.limit

    def rescale(self, factor: float) -> None:
        self._pin(self._bounded((self.limit if self.deferred is None else self.deferred) * factor))

    def _pin(self, then: float) -> None:
        self.deferred, self.limit = then, self.lowest
        self._pinned_s, self._durations_s, self._at_floor = None, [], 0

    def _throttled(self, signal: Signal) -> bool:
        """Old data still show the measuring that is over."""
        return self._pinned_s is not None and self.limit > self.lowest and signal.sizes.max() <= self.lowest

    def _measure(self, signal: Signal) -> None:
        if signal.sizes.max() > self.lowest:
            return
        since_s = signal.until_s - signal.seconds
        if self._pinned_s is None:
            self._pinned_s = since_s
        ends_s = since_s + signal.seconds * np.arange(1, signal.samples + 1) / (signal.samples + 1)
        self._durations_s.append(signal.durations_s[ends_s - signal.durations_s >= self._pinned_s])
        durations_s = np.concatenate(self._durations_s)
        if len(durations_s) >= REQUESTS:
            assert self.deferred is not None
            self.min_rtt_s = float(np.median(durations_s))
            self.limit, self.deferred = self.deferred, None
            self._measure_s = signal.until_s + self.interval_s * (1 + self.random.uniform(0, JITTER))

    def _sample(self, rtt_s: float) -> None:
        gradient = min(max(self.min_rtt_s * (1 + BUFFER) / rtt_s, 0.5), 2.0)
        limit = self._bounded(gradient * self.limit + sqrt(gradient * self.limit))
        self._at_floor = self._at_floor + 1 if self.limit == limit == self.lowest else 0
        self.limit = limit

    def _bounded(self, limit: float) -> float:
        return min(max(float(int(limit)), self.lowest), self.highest)
