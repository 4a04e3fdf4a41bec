"""Sizes that actuators read back: of each target now, and the pool's at any time of the window."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from sluice.control.occupancy import Told, kept
from sluice.model.keys import PoolKey
from sluice.pools.estimate.belief.family import Floats, Ints

# A report older than this says nothing about the size now.
FRESH_MS = 60_000
# Changes of size remembered per pool; older ones are forgotten.
REMEMBERED = 256


@dataclass(frozen=True)
class TargetSize:
    """The newest report of one target; size: None where it has no limit. read_at_ms: Unix time of receipt.

    told: what it told of its use under this size in the newest 30 s, oldest first; () where it does not tell. reporter:
    the configuration of the actuator that reported it; empty where none is compared.
    """

    instance: str
    size: int | None
    read_at_ms: int
    told: tuple[Told, ...] = ()
    reporter: str = ""

    def __str__(self) -> str:
        return f"{self.instance} {'unbounded' if self.size is None else self.size}"


def one_size(targets: Iterable[TargetSize]) -> int | None:
    """The size that all targets have; None when they differ, have no limit, or there are none."""
    sizes = {target.size for target in targets}
    return sizes.pop() if len(sizes) == 1 else None


class Sizes:
    """Times: Unix ms of receipt, by whom it was told.

    A pool has a size while all its targets have it. While they differ, as when they roll, it has none, nor where there
    is no limit.
    """

    def __init__(self) -> None:
        self._targets: dict[PoolKey, dict[str, TargetSize]] = {}
        self._changes: dict[PoolKey, _Changes] = {}
        self._of_target: dict[PoolKey, dict[str, _Changes]] = {}

    def restore(self, key: PoolKey, size: int, from_ms: int) -> None:
        """In force since then, as a state has it; what was reported since the start stays."""
        if key not in self._changes:
            self._changes[key] = _Changes([0, from_ms], [None, size])

    def report(
        self,
        key: PoolKey,
        size: int | None,
        at_ms: int,
        instance: str = "",
        written: bool = False,
        told: Told | None = None,
        reporter: str = "",
    ) -> None:
        """Takes up a size, None for no limit, and what was told with it.

        written: the actuator set it just now. A size that it found may be as old as its last look. reporter: the first
        keeps the target until it has reported nothing for FRESH_MS; what another one reports meanwhile is not taken up.
        """
        targets = self._targets.setdefault(key, {})
        before = targets.get(instance)
        if before is not None and _other_owner(before, reporter, at_ms):
            return
        earlier = before.told if before is not None and before.size == size else ()
        targets[instance] = TargetSize(instance, size, at_ms, kept(earlier, told, at_ms), reporter)
        of_target = self._of_target.setdefault(key, {})
        for gone in [name for name, target in targets.items() if at_ms - target.read_at_ms > FRESH_MS]:
            del targets[gone], of_target[gone]
        pool, own = self._changes.setdefault(key, _Changes()), of_target.setdefault(instance, _Changes())
        if before is not None and before.size != size and not written:
            pool.add(None, before.read_at_ms)
            own.add(None, before.read_at_ms)
        pool.add(one_size(targets.values()), at_ms)
        own.add(size, at_ms)

    def targets(self, key: PoolKey, now_ms: int) -> tuple[TargetSize, ...]:
        """The newest size of each target of which an actuator reported within a minute, ordered by instance."""
        fresh = [one for one in self._targets.get(key, {}).values() if now_ms - one.read_at_ms <= FRESH_MS]
        return tuple(sorted(fresh, key=lambda one: one.instance))

    def instances(self, key: PoolKey) -> tuple[str, ...]:
        """Of the targets that reported lately."""
        return tuple(sorted(self._targets.get(key, {})))

    def limits(self, key: PoolKey, bucket_start_ms: Ints) -> Floats | None:
        """The size in force at each bucket's start, shape (n,); NaN where there was not one. None while nobody ever
        reported.

        Before the first report, the first size is taken: a pool seldom changes unseen.
        """
        changes = self._changes.get(key)
        return None if changes is None else changes.at(bucket_start_ms)

    def of_target(self, key: PoolKey, instance: str, bucket_start_ms: Ints) -> Floats | None:
        """As `limits`, of one target."""
        changes = self._of_target.get(key, {}).get(instance)
        return None if changes is None else changes.at(bucket_start_ms)


def _other_owner(newest: TargetSize, reporter: str, now_ms: int) -> bool:
    owned = newest.reporter and now_ms - newest.read_at_ms <= FRESH_MS
    return bool(owned and reporter and reporter != newest.reporter)


@dataclass
class _Changes:
    """Sizes in force, None where there was not one, each from its time on."""

    at_ms: list[int] = field(default_factory=list)
    sizes: list[int | None] = field(default_factory=list)

    def at(self, bucket_start_ms: Ints) -> Floats:
        """At each bucket's start, shape (n,); NaN for None, and the first one before that."""
        index = np.searchsorted(self.at_ms, bucket_start_ms, side="right") - 1
        known = np.asarray([math.nan if size is None else size for size in self.sizes], dtype=np.float64)
        return known[np.maximum(index, 0)]

    def add(self, size: int | None, at_ms: int) -> None:
        if self.sizes and self.sizes[-1] == size:
            return
        self.at_ms.append(max(at_ms, self.at_ms[-1]) if self.at_ms else at_ms)
        self.sizes.append(size)
        del self.at_ms[:-REMEMBERED], self.sizes[:-REMEMBERED]
