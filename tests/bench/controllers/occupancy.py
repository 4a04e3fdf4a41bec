"""The reports of a target's occupancy, by the rules of `actuators/internal/pools/occupancy.go`. Times are ms.

One reading each 2 s. A report has the readings since the last one under one size. It is due after 1 s where the pool
became full or callers wait, after 5 s where the use moved or the pool is no longer full, and else after 15 s.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean

from sluice.pools.v1.occupancy_pb2 import Occupancy

READ_MS, FULL_MS, MOVED_MS, EVERY_MS = 2_000, 1_000, 5_000, 15_000


@dataclass
class Occupied:
    """Of one target. last, at_ms: the last report and its time."""

    size: int = 0
    read_ms: int = -READ_MS
    at_ms: int = -EVERY_MS
    last: Occupancy | None = None
    readings: list[tuple[int, int]] = field(default_factory=list)

    def report(self, size: int, busy: int, waiting: int, now_ms: int) -> Occupancy | None:
        """The report that is due after a reading at `now_ms`; None where no reading or no report is due."""
        if now_ms - self.read_ms < READ_MS:
            return None
        changed, self.size, self.read_ms = size != self.size, size, now_ms
        self.readings = [*([] if changed else self.readings), (busy, waiting)]
        report = _report(size, self.readings)
        if not changed and now_ms - self.at_ms < _due_ms(self.last, report):
            return None
        self.last, self.at_ms, self.readings = report, now_ms, []
        return report


def _report(size: int, readings: list[tuple[int, int]]) -> Occupancy:
    busy, waiting = zip(*readings, strict=True)
    return Occupancy(
        readings=len(readings),
        full=sum(value >= size for value in busy),
        busy=busy[-1],
        busy_mean=fmean(busy),
        busy_most=max(busy),
        waiting=waiting[-1],
        waiting_mean=fmean(waiting),
        waiting_most=max(waiting),
    )


def _due_ms(before: Occupancy | None, now: Occupancy) -> int:
    if before is None or (_pressed(now) and not _pressed(before)):
        return FULL_MS
    other = abs(now.full / now.readings - before.full / before.readings) >= 0.5
    moved = _moved(before.busy_mean, now.busy_mean) or _moved(before.waiting_mean, now.waiting_mean)
    return MOVED_MS if _pressed(now) != _pressed(before) or moved or other else EVERY_MS


def _pressed(report: Occupancy) -> bool:
    return report.full > 0 or report.waiting_most > 0


def _moved(before: float, now: float) -> bool:
    return abs(now - before) >= max(2.0, before / 4)
