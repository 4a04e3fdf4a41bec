"""Derived thresholds over periods: the minutes of the newest hour that count, read once a minute beside the periods.

A takeover reads the hour again, in stretches of ten minutes. The last threshold of each pool is in the
journal, with its decision, and stands meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np

from sluice.model.keys import PoolKey
from sluice.pools.estimate.belief.family import Floats
from sluice.pools.estimate.derived import NOT_FULL, derived_threshold
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.sizes import Sizes
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.source import WindowSource
from sluice.pools.section import PoolsSection
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.pools.windows.minutes import MINUTE_S, Minutes, until_s

MINUTES, STRETCH_S = 60, 600


class _Stretch(NamedTuple):
    """Unix times."""

    from_s: int
    to_s: int


class DerivedThresholds:
    def __init__(self, decisions: Mapping[PoolKey, PoolSize]) -> None:
        """decisions: in the journal at the takeover."""
        self._standing_ms = {
            key: size.threshold.ToNanoseconds() / 1e6
            for key, size in decisions.items()
            if any(reason.code == "SLO_DERIVED" for reason in size.reasons)
        }
        self._until_s = 0
        self._reading: tuple[_Stretch, Future[dict[PoolKey, Minutes]]] | None = None
        self._known: tuple[PoolsSection, int] | None = None
        self._of: dict[PoolKey, Threshold] = {}
        self._times: dict[PoolKey, Floats] = {}
        """p95 and p99 of each minute of the hour, ms, shape (60, 2), by the minute's number modulo 60; NaN: it does not
        count."""

    def of(
        self,
        config: PoolsSection,
        collector: WindowSource,
        sizes: Callable[[PoolKey], Sizes],
        now_ms: int,
        resources: PoolResources,
    ) -> dict[PoolKey, Threshold]:
        """The thresholds of the pools that need a derived one. sizes: in force, of each pool."""
        end_s = until_s(now_ms)
        if self._known is None or self._known[0] is not config:
            self._reading = None  # it is of the pools before
            keys = [pool.key for pool in config.pools if config.is_derived(pool)]
            if self._known is not None and not self._times.keys() >= set(keys):
                # A pool that was found, or named, since the last reading has its newest minutes at once.
                self._until_s = min(self._until_s, end_s - STRETCH_S)
            self._times = {key: self._times[key] if key in self._times else _nothing() for key in keys}
            self._standing_ms = {key: ms for key, ms in self._standing_ms.items() if key in self._times}
        if self._times and self._until_s < end_s and self._reading is None:
            from_s = max(self._until_s, end_s - MINUTES * MINUTE_S)
            stretch = _Stretch(from_s, min(end_s, from_s + STRETCH_S))
            self._reading = stretch, resources.background.submit(collector.minutes, config, *stretch)
        if self._reading is not None and self._reading[1].done():
            (stretch, future), self._reading = self._reading, None
            resources.problems.result("response times", lambda: self._take(stretch, future.result(), sizes), None)
        if self._known is None or self._known[0] is not config or self._known[1] != self._until_s:
            self._known = config, self._until_s
            self._of = {key: self._threshold(key, config.derived_slo.apply, end_s) for key in self._times}
        return self._of

    def _take(self, stretch: _Stretch, by_pool: Mapping[PoolKey, Minutes], sizes: Callable[[PoolKey], Sizes]) -> None:
        new = np.arange(*stretch, MINUTE_S) // MINUTE_S % MINUTES
        for key, times in self._times.items():
            times[new] = np.nan
            minutes, size = by_pool.get(key), None
            if minutes is not None:
                size = sizes(key).limits(key, 1_000 * minutes.start_s)
            if minutes is not None and size is not None:
                counts = minutes.in_flight <= NOT_FULL * size
                rows = minutes.start_s[counts] // MINUTE_S % MINUTES
                times[rows] = np.column_stack((minutes.p95_ms, minutes.p99_ms))[counts]
        self._until_s = stretch.to_s

    def _threshold(self, key: PoolKey, applies: bool, end_s: int) -> Threshold:
        times, standing_ms = self._times[key], self._standing_ms.get(key)
        # While a takeover still reads the hour, its first stretches move no threshold.
        counts = times[~np.isnan(times[:, 0])] if self._until_s >= end_s or standing_ms is None else times[:0]
        threshold = derived_threshold(counts[:, 0].tolist(), counts[:, 1].tolist(), standing_ms, applies)
        if threshold.is_known:
            self._standing_ms[key] = threshold.value_ms
        return threshold


def _nothing() -> Floats:
    return np.full((MINUTES, 2), np.nan)
