"""Occupancy of a pool, as its targets report it with their sizes: from messages to one value a pool. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from statistics import fmean

from sluice.pools.policy.observation import FULL_READINGS, Occupancy
from sluice.pools.v1 import occupancy_pb2

# An actuator reports every 15 s, and sooner after a change. A report 5 s older than that does not count as current.
FRESH_MS = 20_000
# The share of full readings counts over this time. Of a target whose newest report has so many readings, all of them
# full, it is 1: the pool was full for 6 s, whatever it was before.
OVER_MS = 30_000
# An actuator reads the use each 2 s.
READ_MS = 2_000


@dataclass(frozen=True)
class OccupancyReport:
    """One report of one target, over its readings since the last report, under one size.

    at_ms    Unix time of receipt
    full     number of readings with as many in use as the size
    busy     in use: at the newest reading, mean, maximum
    waiting  waiting callers, likewise; None where the target does not report them
    fresh_ms how long it counts as current
    coarse   its readings are too far apart to say what the pool did between them
    queued   waiting callers by a counter of the time that they waited, a mean over all the time between the newest two
             readings; None without such a counter
    """

    at_ms: int
    readings: int
    full: int
    busy: tuple[int, float, int]
    waiting: tuple[int, float, int] | None = None
    fresh_ms: int = FRESH_MS
    coarse: bool = False
    queued: float | None = None


def occupancy_report(message: occupancy_pb2.Occupancy, at_ms: int) -> OccupancyReport | None:
    """The report in a message; None for an empty one."""
    if message.readings < 1:
        return None
    waiting = (message.waiting, message.waiting_mean, message.waiting_most) if message.HasField("waiting") else None
    busy = message.busy, message.busy_mean, message.busy_most
    return OccupancyReport(at_ms, message.readings, min(message.full, message.readings), busy, waiting)


def message_of(report: OccupancyReport) -> occupancy_pb2.Occupancy:
    message = occupancy_pb2.Occupancy(readings=report.readings, full=report.full)
    message.busy, message.busy_mean, message.busy_most = report.busy
    if report.waiting is not None:
        message.waiting, message.waiting_mean, message.waiting_most = report.waiting
    return message


def kept(reports: tuple[OccupancyReport, ...], new: OccupancyReport | None, now_ms: int) -> tuple[OccupancyReport, ...]:
    """The reports of a target under one size that still count, oldest first."""
    recent = tuple(report for report in reports if now_ms - report.at_ms <= OVER_MS)
    return recent if new is None else (*recent, new)


def newest_report(reports: tuple[OccupancyReport, ...], now_ms: int) -> OccupancyReport | None:
    """The newest report; None where the target has no recent one."""
    return reports[-1] if reports and now_ms - reports[-1].at_ms <= reports[-1].fresh_ms else None


def occupancy(targets: Iterable[tuple[OccupancyReport, ...]], now_ms: int) -> Occupancy | None:
    """The occupancy of a pool, from the reports of its targets. None without recent ones."""
    current = [reports for reports in targets if newest_report(reports, now_ms) is not None]
    if not current:
        return None
    newest = [reports[-1] for reports in current]
    waiting = [report.waiting for report in newest if report.waiting is not None]
    recent = [
        [report for report in reports if now_ms - report.at_ms <= max(OVER_MS, report.fresh_ms)] for reports in current
    ]
    return Occupancy(
        busy=fmean(report.busy[1] for report in newest),
        waiting=fmean(mean for _, mean, _ in waiting) if waiting else None,
        full_share=fmean(map(_full_share, recent)),
        at_ms=max(report.at_ms for report in newest),
        busy_most=max(report.busy[2] for report in newest),
        waiting_most=max(most for _, _, most in waiting) if waiting else None,
        readings=sum(report.readings for reports in recent for report in reports),
        coarse=any(report.coarse for report in newest),
        since_ms=max(map(_since_ms, recent)),
        busy_30_s=fmean(map(_busy, recent)),
        queued=min(report.queued or 0.0 for report in newest),
    )


def _busy(reports: list[OccupancyReport]) -> float:
    """In use, over all readings of one target."""
    return fmean([report.busy[1] for report in reports], [report.readings for report in reports])


def _since_ms(reports: list[OccupancyReport]) -> int:
    """The first reading of the newest reports that were full throughout; of all, where the newest was not."""
    full = list(takewhile(lambda report: report.full == report.readings, reversed(reports)))
    first = full[-1] if full else reports[0]
    return first.at_ms - READ_MS * (first.readings - 1)


def _full_share(reports: list[OccupancyReport]) -> float:
    """Of one target. Worked: 1 of 2 readings full, and then 3 of 3: 1, and not 4 of 5."""
    newest = reports[-1]
    if newest.full == newest.readings >= FULL_READINGS:
        return 1.0
    return sum(report.full for report in reports) / sum(report.readings for report in reports)
