"""A queue-corrected limiter with throughput correlation: failsafe-go's adaptive limiter as peers describe its rule.

State: the limit L; the last 3 windows' p90 response times, whose median goes into recent, an exponential mean over 5
windows; baseline, the same of recent over 10 windows; in flight, throughput and p90 of the last 50 windows. With
l = max(1, log10 L) and queue = ceil(L (1 - baseline / recent)), each window:

    queue > 6 l, or corr(inflight, throughput) < 0,
    or corr(inflight, p90) > 0.5 and (corr(inflight, throughput) < 0.3 or CV(throughput) < 0.2)
                 ->  L - l
    queue < 3 l  ->  L + l
    then L <= max(1, 5 inflight), within [1, 200]; initial 20

The tests of correlation count in full windows only (inflight >= L - 0.5), and so does growth. The length of the
median filter (3) and of the history (50) are ours; the rest is the published rule.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import ceil, log10

import numpy as np

from bench.controllers.signal import Signal

MEDIAN_OF, RECENT, BASELINE, HISTORY = 3, 5, 10, 50
LEAST_HISTORY = 5


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's; 0 where one of them does not vary."""
    if x.std() == 0 or y.std() == 0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


@dataclass
class Correlated:
    limit: float = 20.0
    lowest: float = 1.0
    highest: float = 200.0
    enough: int = 50
    recent_s: float = 0.0
    baseline_s: float = 0.0
    _p90: deque[float] = field(default_factory=lambda: deque(maxlen=MEDIAN_OF))
    _history: deque[tuple[float, float, float]] = field(default_factory=lambda: deque(maxlen=HISTORY))

    def update(self, seen: Signal) -> float:
        """Worked: first window: recent = baseline, queue 0, full at L 20: L = 20 + log10(20) = 21.3."""
        self._p90.append(seen.p90_s)
        self._history.append((seen.inflight, seen.throughput_per_s, seen.p90_s))
        self.recent_s = _towards(self.recent_s, float(np.median(self._p90)), RECENT)
        self.baseline_s = _towards(self.baseline_s, self.recent_s, BASELINE)
        log = max(1.0, log10(self.limit))
        queue = ceil(self.limit * (1 - self.baseline_s / self.recent_s))
        full = seen.inflight >= self.limit - 0.5
        limit = self.limit
        if queue > 6 * log or (full and self._saturated()):
            limit -= log
        elif full and queue < 3 * log:
            limit += log
        limit = min(limit, 5 * seen.inflight)
        self.limit = min(max(limit, self.lowest), self.highest)
        return self.limit

    def _saturated(self) -> bool:
        if len(self._history) < LEAST_HISTORY:
            return False
        inflight, throughput, p90 = np.array(self._history).T
        with_throughput, with_rtt = correlation(inflight, throughput), correlation(inflight, p90)
        steady = throughput.std() < 0.2 * throughput.mean()
        return with_throughput < 0 or (with_rtt > 0.5 and (with_throughput < 0.3 or bool(steady)))


def _towards(mean: float, value: float, windows: int) -> float:
    return value if mean == 0 else mean + 2 / (windows + 1) * (value - mean)
