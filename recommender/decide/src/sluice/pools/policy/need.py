"""The size that a pool needed in its busiest stretch of the horizon. No smaller size is chosen. Pure.

    needed = the smallest size that is expected to complete RESERVE x the most that completed in 10 s of the horizon,
             or 99 % of the best size's completions, where that is less

So a pool with a light load all day keeps the size for its peak and a quarter more. A pool that was overloaded may still
get the size that completes most.

Worked, the horizon a day: 12 a second at most, of 0.25 s each, on a service that completes 4 n up to 200: 15 / 4, so
the least is 4 threads. A service that completes 106 a second at 12 threads, its best size, and 71 at 64: its peak was
71, so the least is the smallest size that completes 88.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from sluice.pools.policy.pace import Beat

RESERVE = 1.25
BEST_SHARE = 0.99
STRETCH_S = 10
HOUR_MS, DAY_MS = 3_600_000, 86_400_000


class Peak(NamedTuple):
    """The most completions per second without errors, over 10 s, in the hour that begins at `hour_ms`."""

    hour_ms: int
    per_s: float


def with_peaks(
    peaks: tuple[Peak, ...], beats: tuple[Beat, ...], since_s: int, horizon_ms: int = DAY_MS
) -> tuple[Peak, ...]:
    """Adds each stretch of 10 s that ends in the second `since_s` or later, if half of it is known. A busy stretch
    counts alike whatever the periods are in which it is read."""
    seconds = [beat.second for beat in beats]
    for ends_s in sorted({second for second in seconds if second >= since_s}):
        stretch = beats[bisect_right(seconds, ends_s - STRETCH_S) : bisect_right(seconds, ends_s)]
        peaks = _with_peak(peaks, stretch, ends_s, horizon_ms)
    return peaks


def _with_peak(peaks: tuple[Peak, ...], stretch: tuple[Beat, ...], ends_s: int, horizon_ms: int) -> tuple[Peak, ...]:
    length = sum([beat.length_s for beat in stretch])
    if length < STRETCH_S / 2:
        return peaks
    per_s, hour_ms = sum([beat.good for beat in stretch]) / length, ends_s * 1_000 // HOUR_MS * HOUR_MS
    if peaks and peaks[-1].hour_ms == hour_ms:
        return peaks if per_s <= peaks[-1].per_s else (*peaks[:-1], Peak(hour_ms, per_s))
    kept = tuple(peak for peak in peaks if hour_ms - horizon_ms <= peak.hour_ms < hour_ms)
    return (*kept, Peak(hour_ms, per_s))


def busiest(peaks: tuple[Peak, ...]) -> float:
    """Completions per second of the busiest stretch; 0 where nothing is known."""
    return max((peak.per_s for peak in peaks), default=0.0)
