"""Sizes that actuators read back: the current one, and the one in force at any time of the window."""

from __future__ import annotations

from bisect import bisect_left
from threading import Lock

import numpy as np

from sluice.collect.rows import Ints
from sluice.core.keys import PoolKey
from sluice.pools.estimate.samples import Floats

# A report older than this says nothing about the size now.
FRESH_MS = 60_000
# Changes of size remembered per pool; older ones are forgotten.
REMEMBERED = 256


class Sizes:
    """Thread-safe: reports come from gRPC threads, questions from the control loop. Times: Unix ms of receipt."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._changes: dict[PoolKey, tuple[list[int], list[int]]] = {}
        self._heard: dict[PoolKey, int] = {}

    def report(self, key: PoolKey, size: int, at_ms: int) -> bool:
        """Takes up a size; whether it differs from the one before."""
        with self._lock:
            times, sizes = self._changes.setdefault(key, ([], []))
            self._heard[key] = at_ms
            if sizes and sizes[-1] == size:
                return False
            times.append(at_ms)
            sizes.append(size)
            del times[:-REMEMBERED], sizes[:-REMEMBERED]
            return True

    def current(self, key: PoolKey, now_ms: int) -> int | None:
        """The newest size; None when no actuator reported within a minute."""
        with self._lock:
            heard = self._heard.get(key)
            if heard is None or now_ms - heard > FRESH_MS:
                return None
            return self._changes[key][1][-1]

    def unchanged_ms(self, key: PoolKey, now_ms: int) -> int:
        """How long the newest size has been in force, as far as reports go; 0 without any."""
        with self._lock:
            changes = self._changes.get(key)
            return now_ms - changes[0][-1] if changes else 0

    def since_change_ms(self, key: PoolKey, now_ms: int) -> int | None:
        """How long ago the size was seen to change; None when no change was seen. The first report is none."""
        with self._lock:
            times, _ = self._changes.get(key, ([], []))
            return now_ms - times[-1] if len(times) > 1 else None

    def at(self, key: PoolKey, at_ms: int) -> int | None:
        """The size in force just before a time; None when nothing was reported by then."""
        with self._lock:
            times, sizes = self._changes.get(key, ([], []))
            index = bisect_left(times, at_ms) - 1
            return sizes[index] if index >= 0 else None

    def limits(self, key: PoolKey, bucket_start_ms: Ints) -> Floats:
        """The size in force at each bucket's start, shape (n,); NaN for all when no actuator ever reported.

        Before the first report, the first size is taken: a pool seldom changes unseen, and after a restart of the
        recommender the window would otherwise forget that the pool was full.
        """
        with self._lock:
            times, sizes = self._changes.get(key, ([], []))
            if not sizes:
                return np.full(len(bucket_start_ms), np.nan)
            index = np.searchsorted(times, bucket_start_ms, side="right") - 1
            return np.asarray(sizes, dtype=np.float64)[np.maximum(index, 0)]
