"""Sizes that actuators read back: of each target now, and the pool's at any time of the window."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock

import numpy as np

from sluice.collect.rows import Ints
from sluice.core.keys import PoolKey
from sluice.pools.estimate import Reason
from sluice.pools.estimate.samples import Floats

# A report older than this says nothing about the size now.
FRESH_MS = 60_000
# Changes of size remembered per pool; older ones are forgotten.
REMEMBERED = 256


@dataclass(frozen=True)
class TargetSize:
    """The newest report of one target; size: None where it has no limit. read_at_ms: Unix time of receipt."""

    instance: str
    size: int | None
    read_at_ms: int

    def __str__(self) -> str:
        return f"{self.instance} {'unbounded' if self.size is None else self.size}"


def one_size(targets: Iterable[TargetSize]) -> int | None:
    """The size that all targets have; None when they differ, have no limit, or there are none."""
    sizes = {target.size for target in targets}
    return sizes.pop() if len(sizes) == 1 else None


def conditions(targets: tuple[TargetSize, ...]) -> tuple[Reason, ...]:
    """Why a pool whose targets reported has no one size: MIXED while they roll, UNBOUNDED without a limit."""
    sizes = {target.size for target in targets}
    if len(sizes) > 1:
        return (Reason("MIXED", f"targets differ: {', '.join(map(str, targets))}"),)
    return (Reason("UNBOUNDED", "the pool has no limit"),) if sizes == {None} else ()


class Sizes:
    """Thread-safe: reports come from gRPC threads, questions from the control loop. Times: Unix ms of receipt.

    A pool's size changes when all its targets have another one than before: while they roll it is mixed, and that is
    no change.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._targets: dict[PoolKey, dict[str, TargetSize]] = {}
        self._changes: dict[PoolKey, tuple[list[int], list[int | None]]] = {}

    def report(self, key: PoolKey, size: int | None, at_ms: int, instance: str = "") -> bool:
        """Takes up a size, None for no limit; whether it differs from the one before of that target."""
        with self._lock:
            targets = self._targets.setdefault(key, {})
            before = targets.get(instance)
            targets[instance] = TargetSize(instance, size, at_ms)
            for gone in [name for name, target in targets.items() if at_ms - target.read_at_ms > FRESH_MS]:
                del targets[gone]
            sizes = {target.size for target in targets.values()}
            if len(sizes) == 1:
                self._change(key, sizes.pop(), at_ms)
            return before is None or before.size != size

    def _change(self, key: PoolKey, size: int | None, at_ms: int) -> None:
        times, sizes = self._changes.setdefault(key, ([], []))
        if not sizes or sizes[-1] != size:
            times.append(at_ms)
            sizes.append(size)
            del times[:-REMEMBERED], sizes[:-REMEMBERED]

    def targets(self, key: PoolKey, now_ms: int) -> tuple[TargetSize, ...]:
        """The newest size of each target of which an actuator reported within a minute, ordered by instance."""
        with self._lock:
            fresh = [one for one in self._targets.get(key, {}).values() if now_ms - one.read_at_ms <= FRESH_MS]
        return tuple(sorted(fresh, key=lambda one: one.instance))

    def current(self, key: PoolKey, now_ms: int) -> int | None:
        """The size of all targets; None where there is not one."""
        return one_size(self.targets(key, now_ms))

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
        """The size in force just before a time; None when nothing was reported by then, or there was no limit."""
        with self._lock:
            times, sizes = self._changes.get(key, ([], []))
            index = bisect_left(times, at_ms) - 1
            return sizes[index] if index >= 0 else None

    def limits(self, key: PoolKey, bucket_start_ms: Ints) -> Floats:
        """The size in force at each bucket's start, shape (n,); NaN where there was no limit, and for all when no
        actuator ever reported.

        Before the first report, the first size is taken: a pool seldom changes unseen, and after a restart of the
        recommender the window would otherwise forget that the pool was full.
        """
        with self._lock:
            times, sizes = self._changes.get(key, ([], []))
            if not sizes:
                return np.full(len(bucket_start_ms), np.nan)
            index = np.searchsorted(times, bucket_start_ms, side="right") - 1
            known = np.asarray([math.nan if size is None else size for size in sizes], dtype=np.float64)
            return known[np.maximum(index, 0)]
