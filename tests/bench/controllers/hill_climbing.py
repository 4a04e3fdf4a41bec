"""The .NET thread pool's hill climbing: a wave on the thread count, and how much of it comes back in the throughput.

State: the centre c, from the pool's size at first; of the last 32 samples the threads n and the throughput x; the mean
noise, exponential with 0.01. A sample ends when it is asked, once (n - 1) / completions < 0.15: until then the count
stays. With N = 8, 12, ..., 32 samples, the most that there are but for the first, and W_p(y) the Fourier component of
period p of y over the mean of y:

    noise       the larger |W_p(x)| of the neighbouring bands, p = N / (N / 4 + 1) and N / (N / 4 - 1)
    ratio       Re (W_4(x) - 0.15 W_4(n)) / W_4(n)              how much throughput a thread gains, less a bias
    confidence  min(1, |W_4(n)| / max(noise, mean noise) / 3)
    move        m = clamp(ratio, -1, 1) confidence;  c += sign(m) m^2 4/s seconds of the sample, at most 20

No growth above 95 % CPU. Then the next count is c, and for every second pair of samples c plus the wave's height, 6 c
times the mean noise, within [1, 20], rounded. A pool at its lowest that would rather shrink samples up to 10 times as
long. It wants as much throughput as it gets with few threads, and knows no response time.

Within [cores, 200], the cores as they were at first; its constants, but for the most, 32,767 there. It draws the least
length of a sample from 10 to 200 ms, here it is the period, 100 ms; it asks for 10 ms more where a sample is too short,
here it is 100 ms. The threads of a sample are the mean of those in force while it was taken, as data may be old. Left
out: the thread that it adds when nothing was taken from the queue for half a second.

Source: PortableThreadPool.HillClimbing.cs of dotnet/runtime; J. L. Hellerstein, V. Morrison, E. Eilebrecht, Optimizing
Concurrency Levels in the .NET ThreadPool, FeBID 2008.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import ceil, copysign

import numpy as np

from bench.controllers.signal import Floats, Signal

WAVE, WAVES = 4, 8
BIAS, TO_NOISE, NOISE_SHARE = 0.15, 3.0, 0.01
PER_SECOND, MOST_PER_SAMPLE, MOST_HIGH = 4.0, 20.0, 20
COUNT_ERROR, CPU_HIGH, LONGER = 0.15, 0.95, 10.0
NO_WAVE = 1e-9


def wave(y: Floats, period: float) -> complex:
    """Fourier component of ``period`` samples, over the mean; shape (n,), n a multiple of the period, mean > 0.

    Worked: 10, 10, 14, 14 at period 4: (10 - 10i - 14 + 14i) / 4 / 12 = (-1 + i) / 12. Goertzel's algorithm, which the
    source uses, turns it by a phase that the ratio cancels.
    """
    turns = np.exp(-2j * np.pi / period * np.arange(len(y)))
    return complex((y * turns).mean() / y.mean())


@dataclass
class HillClimbing:
    limit: float = 20.0
    lowest: float = 1.0
    """The number of cores, from the first window on."""
    highest: float = 200.0
    enough: int = 1
    period_s: float = 0.1
    centre: float | None = None
    noise: float = 0.0
    _threads: deque[float] = field(default_factory=lambda: deque(maxlen=WAVE * WAVES))
    _throughput: deque[float] = field(default_factory=lambda: deque(maxlen=WAVE * WAVES))
    _samples: int = 0
    _until_s: float | None = None
    _least_s: float = 0.0
    _seconds: float = 0.0
    _completions: float = 0.0
    _sizes: list[int] = field(default_factory=list)

    def update(self, signal: Signal) -> float:
        """Worked: threads 20, 20, 21, 21 and 2000, 2000, 2080, 2080 a second over and over, so no noise.

        In phase: ratio = (80 / 2040) / (1 / 20.5) - 0.15 = 0.654; after 0.1 s c grows by 0.654^2 * 0.4 = 0.171.
        """
        if self.centre is None:
            self.centre = self.limit = float(signal.sizes[-1])
            self.lowest = float(ceil(signal.cores))
        since_s = signal.until_s - signal.seconds if self._until_s is None else self._until_s
        self._until_s = signal.until_s
        self._seconds += signal.until_s - since_s  # a window without completions was skipped: its time counts
        self._completions += signal.throughput_per_s * signal.seconds
        self._sizes += signal.sizes.tolist()
        threads = float(np.mean(self._sizes))
        exact = self._samples == 0 or (threads - 1) / self._completions < COUNT_ERROR
        if exact and self._seconds >= self._least_s:
            self._sample(threads, self._completions / self._seconds, self._seconds, signal.cpu)
            self._begin()
        return self.limit

    def rescale(self, factor: float) -> None:
        if self.centre is not None:
            self.lowest = min(max(float(ceil(self.lowest * factor)), 1.0), self.highest)
            self.centre = self.limit = min(max(self.centre * factor, self.lowest), self.highest)
        self._threads.clear()
        self._throughput.clear()
        self._samples, self.noise, self._least_s, self._until_s = 0, 0.0, 0.0, None
        self._begin()

    def _begin(self) -> None:
        self._seconds, self._completions, self._sizes = 0.0, 0.0, []

    def _sample(self, threads: float, throughput: float, seconds: float, cpu: float) -> None:
        assert self.centre is not None
        self._threads.append(threads)
        self._throughput.append(throughput)
        self._samples += 1
        ratio, confidence = self._slope()
        move = min(max(ratio, -1.0), 1.0) * confidence
        move = min(copysign(move * move, move) * PER_SECOND * seconds, MOST_PER_SAMPLE)
        if cpu > CPU_HIGH:
            move = min(move, 0.0)
        high = int(0.5 + (self.centre + move) * self.noise * TO_NOISE * 2)
        high = max(1, min(high, MOST_HIGH))
        self.centre = max(self.lowest, min(self.highest - high, self.centre + move))
        count = int(self.centre + high * (self._samples // (WAVE // 2) % 2))
        self.limit = max(self.lowest, min(self.highest, float(count)))
        self._least_s = LONGER * self.period_s * min(-ratio, 1.0) if ratio < 0 and self.limit == self.lowest else 0.0

    def _slope(self) -> tuple[float, float]:
        """Ratio and confidence; 0 and 0 with fewer than 8 samples after the first."""
        count = min(self._samples - 1, WAVE * WAVES) // WAVE * WAVE
        if count <= WAVE:
            return 0.0, 0.0
        threads, throughput = np.array(self._threads)[-count:], np.array(self._throughput)[-count:]
        bands = [count / (count / WAVE + 1), count / (count / WAVE - 1)]
        noise = max(abs(wave(throughput, period)) for period in bands)
        self.noise = noise if self.noise == 0 else NOISE_SHARE * noise + (1 - NOISE_SHARE) * self.noise
        sent, came_back = wave(threads, WAVE), wave(throughput, WAVE)
        ratio = (came_back / sent).real - BIAS if abs(sent) > NO_WAVE else 0.0
        against = TO_NOISE * max(noise, self.noise)
        return ratio, min(1.0, abs(sent) / against) if against > 0 else 1.0
