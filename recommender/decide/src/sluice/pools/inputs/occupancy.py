"""Occupancy of a pool, as its targets report it with their sizes: from messages to one value a pool. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from sluice.pools.policy.observation import Occupancy
from sluice.pools.v1 import occupancy_pb2

# An actuator reports every 15 s, and sooner after a change. A report 5 s older than that does not count as current.
FRESH_MS = 20_000
# The share of full readings counts over this time.
OVER_MS = 30_000


@dataclass(frozen=True)
class OccupancyReport:
    """One report of one target, over its readings since the last report, under one size.

    at_ms    Unix time of receipt
    full     number of readings with as many in use as the size
    busy     in use: at the newest reading, mean, maximum
    waiting  waiting callers, likewise; None where the target does not report them
    """

    at_ms: int
    readings: int
    full: int
    busy: tuple[int, float, int]
    waiting: tuple[int, float, int] | None = None


def told_of(message: occupancy_pb2.Occupancy, at_ms: int) -> OccupancyReport | None:
    """The report in a message; None for an empty one."""
    if message.readings < 1:
        return None
    waiting = (message.waiting, message.waiting_mean, message.waiting_most) if message.HasField("waiting") else None
    busy = message.busy, message.busy_mean, message.busy_most
    return OccupancyReport(at_ms, message.readings, min(message.full, message.readings), busy, waiting)


def message_of(told: OccupancyReport) -> occupancy_pb2.Occupancy:
    message = occupancy_pb2.Occupancy(readings=told.readings, full=told.full)
    message.busy, message.busy_mean, message.busy_most = told.busy
    if told.waiting is not None:
        message.waiting, message.waiting_mean, message.waiting_most = told.waiting
    return message


def kept(before: tuple[OccupancyReport, ...], new: OccupancyReport | None, now_ms: int) -> tuple[OccupancyReport, ...]:
    """The reports of a target under one size that still count, oldest first."""
    recent = tuple(each for each in before if now_ms - each.at_ms <= OVER_MS)
    return recent if new is None else (*recent, new)


def newest_told(told: tuple[OccupancyReport, ...], now_ms: int) -> OccupancyReport | None:
    """The newest report; None where the target has no recent one."""
    return told[-1] if told and now_ms - told[-1].at_ms <= FRESH_MS else None


def occupancy(targets: Iterable[tuple[OccupancyReport, ...]], now_ms: int) -> Occupancy | None:
    """The occupancy of a pool, from the reports of its targets. None without recent ones."""
    telling = [told for told in targets if newest_told(told, now_ms) is not None]
    if not telling:
        return None
    newest = [told[-1] for told in telling]
    waiting = [each.waiting for each in newest if each.waiting is not None]
    over = [[each for each in told if now_ms - each.at_ms <= OVER_MS] for told in telling]
    return Occupancy(
        busy=fmean(each.busy[1] for each in newest),
        waiting=fmean(each[1] for each in waiting) if waiting else None,
        full_share=fmean(sum(each.full for each in of) / sum(each.readings for each in of) for of in over),
        at_ms=max(each.at_ms for each in newest),
        busy_most=max(each.busy[2] for each in newest),
        waiting_most=max(each[2] for each in waiting) if waiting else None,
        readings=sum(each.readings for of in over for each in of),
    )
