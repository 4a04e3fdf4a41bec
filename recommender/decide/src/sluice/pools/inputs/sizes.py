"""Sizes that actuators read back: each target's present size, and the pool's at any time of the window."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from sluice.model.keys import PoolKey
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.inputs.occupancy import OccupancyReport, kept

# A report older than this does not count as the present size.
FRESH_MS = 60_000
# Changes of size kept per pool.
REMEMBERED = 256


@dataclass(frozen=True)
class TargetSize:
    """The newest report of one target. size: None where it has no limit. read_at_ms: Unix time of receipt.

    occupancy: its reports under this size in the newest 30 s, oldest first; () without reports of it. reporter: the
    configuration of the actuator that owns the target; empty where none does. owned_at_ms: its newest report.
    from_metrics: the size is that of a metric, not of an actuator; read_at_ms is then the time of its point.
    slo_ms: the SLO of the pool's service that the target declares; None where it declares none. recommends: its
    actuator only reads it.
    """

    instance: str
    size: int | None
    read_at_ms: int
    occupancy: tuple[OccupancyReport, ...] = ()
    reporter: str = ""
    owned_at_ms: int = 0
    from_metrics: bool = False
    slo_ms: float | None = None
    recommends: bool = False

    def __str__(self) -> str:
        return f"{self.instance} {'unbounded' if self.size is None else self.size}"


@dataclass(frozen=True)
class SizeReport:
    """One report of one target. size: None where it has no limit. at_ms: Unix time of receipt.

    written: the actuator has just set the size. Otherwise the size may be as old as the last reading. occupancy: None
    where the target does not report it. reporter, slo_ms, recommends: as in `TargetSize`.
    """

    size: int | None
    at_ms: int
    instance: str = ""
    written: bool = False
    occupancy: OccupancyReport | None = None
    reporter: str = ""
    slo_ms: float | None = None
    recommends: bool = False


def one_size(targets: Iterable[TargetSize]) -> int | None:
    """The size of all targets; None when they differ, have no limit, or there are none."""
    sizes = {target.size for target in targets}
    return sizes.pop() if len(sizes) == 1 else None


class Sizes:
    """Times: Unix ms of receipt, by the receiver's clock.

    A pool has a size while all its targets have it. It has none while they differ, as during a rollout, and none
    without a limit.
    """

    def __init__(self, fresh_ms: int = FRESH_MS) -> None:
        """fresh_ms: a report older than this does not count as the present size."""
        self._fresh_ms = fresh_ms
        self._targets: dict[PoolKey, dict[str, TargetSize]] = {}
        self._changes: dict[PoolKey, _Changes] = {}
        self._of_target: dict[PoolKey, dict[str, _Changes]] = {}

    def restore(self, key: PoolKey, size: int, from_ms: int) -> None:
        """Restores a size from a state, in force since `from_ms`. Reports since the start take precedence."""
        if key not in self._changes:
            self._changes[key] = _Changes([0, from_ms], [None, size])

    def report(self, key: PoolKey, report: SizeReport) -> None:
        """Adds a report.

        The first reporter owns the target until it has not reported for FRESH_MS; other reporters' sizes are ignored
        meanwhile. An empty reporter neither owns the target nor changes its owner, or the owner's SLO.
        """
        size, at_ms, instance, reporter = report.size, report.at_ms, report.instance, report.reporter
        targets = self._targets.setdefault(key, {})
        previous = targets.get(instance)
        if previous is not None and _other_owner(previous, reporter, at_ms):
            return
        earlier = previous.occupancy if previous is not None and previous.size == size else ()
        owner, owned_at_ms = (reporter, at_ms) if reporter else _owner(previous, at_ms)
        occupancy = kept(earlier, report.occupancy, at_ms)
        of_owner = previous if previous is not None and owner != reporter else report
        targets[instance] = TargetSize(
            instance,
            size,
            at_ms,
            occupancy,
            owner,
            owned_at_ms,
            slo_ms=of_owner.slo_ms,
            recommends=of_owner.recommends,
        )
        of_target = self._of_target.setdefault(key, {})
        for silent in [name for name, target in targets.items() if at_ms - target.read_at_ms > self._fresh_ms]:
            del targets[silent], of_target[silent]
        pool, own = self._changes.setdefault(key, _Changes()), of_target.setdefault(instance, _Changes())
        if previous is not None and previous.size != size and not report.written:
            pool.add(None, previous.read_at_ms)
            own.add(None, previous.read_at_ms)
        pool.add(one_size(targets.values()), at_ms)
        own.add(size, at_ms)

    def targets(self, key: PoolKey, now_ms: int) -> tuple[TargetSize, ...]:
        """The newest size of each target that was reported within a minute (`fresh_ms`), ordered by instance."""
        known = self._targets.get(key, {}).values()
        fresh = [target for target in known if now_ms - target.read_at_ms <= self._fresh_ms]
        return tuple(sorted(fresh, key=lambda target: target.instance))

    def instances(self, key: PoolKey) -> tuple[str, ...]:
        """The instances of targets with recent reports."""
        return tuple(sorted(self._targets.get(key, {})))

    def newest_ms(self, key: PoolKey) -> int:
        """The time of the newest report of any target, however old; 0 before the first."""
        return max((target.read_at_ms for target in self._targets.get(key, {}).values()), default=0)

    def since_ms(self, key: PoolKey, instance: str) -> float:
        """Since when a target has had its size; infinite where that is not known."""
        changes = self._of_target.get(key, {}).get(instance)
        return math.inf if changes is None or not changes.at_ms else changes.at_ms[-1]

    def limits(self, key: PoolKey, bucket_start_ms: Ints) -> Floats | None:
        """The size in force at each bucket's start, shape (n,); NaN where targets differed. None before any report.

        Before the first report, the first size counts: pools seldom change unseen.
        """
        changes = self._changes.get(key)
        return None if changes is None else changes.at(bucket_start_ms)

    def of_target(self, key: PoolKey, instance: str, bucket_start_ms: Ints) -> Floats | None:
        """As `limits`, for one target."""
        changes = self._of_target.get(key, {}).get(instance)
        return None if changes is None else changes.at(bucket_start_ms)


def _other_owner(newest: TargetSize, reporter: str, now_ms: int) -> bool:
    owner, _ = _owner(newest, now_ms)
    return bool(owner and reporter and reporter != owner)


def _owner(newest: TargetSize | None, now_ms: int) -> tuple[str, int]:
    """The owner, and the time of its newest report."""
    if newest is None or now_ms - newest.owned_at_ms > FRESH_MS:
        return "", 0
    return newest.reporter, newest.owned_at_ms


@dataclass
class _Changes:
    """Sizes in force, None where targets differed. Each is in force from its time on."""

    at_ms: list[int] = field(default_factory=list)
    sizes: list[int | None] = field(default_factory=list)

    def at(self, bucket_start_ms: Ints) -> Floats:
        """The size at each bucket's start, shape (n,); NaN for None. Before the first change, the first size."""
        index = np.searchsorted(self.at_ms, bucket_start_ms, side="right") - 1
        known = np.asarray([math.nan if size is None else size for size in self.sizes], dtype=np.float64)
        return known[np.maximum(index, 0)]

    def add(self, size: int | None, at_ms: int) -> None:
        if self.sizes and self.sizes[-1] == size:
            return
        self.at_ms.append(max(at_ms, self.at_ms[-1]) if self.at_ms else at_ms)
        self.sizes.append(size)
        del self.at_ms[:-REMEMBERED], self.sizes[:-REMEMBERED]
