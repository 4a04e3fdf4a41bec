"""What is used of a pool, and who waits for it, as the metrics of one instance have it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.inputs.occupancy import OVER_MS, OccupancyReport

# A point is read so long after its time at most: it is delivered within 5 s, and read within 10 s more.
DELIVERED_MS = 15_000
# Readings that are further apart than this do not say what the pool did between them.
COARSE_MS = 15_000
# One reading is a moment; a pool is full, or is not, after so many in a row.
LEAST_READINGS = 2
# HikariCP counts each acquisition as a wait; one that finds a free connection took 25 us.
LEAST_WAIT_S = 0.001
NS = 1e9


class FigureReading(NamedTuple):
    """The points of one figure in one window. last_ms, first_ms: Unix times of the first and last point. low, mean,
    high: of a level; `high` of a counter is its last value. total: of counts since the last point, where `delta`.
    series: equal where the window has the same series as another."""

    last_ms: int
    first_ms: int
    points: int
    low: float
    mean: float
    high: float
    total: float
    series: int
    delta: int

    @property
    def moments(self) -> int:
        """How many times it has. Points of one time, as of two agents, are one."""
        return self.points if self.last_ms > self.first_ms else 1

    @property
    def spacing_ms(self) -> float | None:
        """The time between two of its points; None where there is one time."""
        return (self.last_ms - self.first_ms) / (self.points - 1) if self.moments > 1 else None


class Figure(NamedTuple):
    """One figure of a pool, its metric's name, and its readings, oldest first."""

    metric: str
    readings: Sequence[FigureReading]

    @property
    def interval_ms(self) -> float | None:
        """The shortest time between two points; None where there is only one."""
        return min(
            (*(after.last_ms - before.last_ms for before, after in pairwise(self.readings)), *self._within),
            default=None,
        )

    @property
    def apart_ms(self) -> float:
        """The longest time between two points: of what is between them nothing is known."""
        return max(
            (*(after.first_ms - before.last_ms for before, after in pairwise(self.readings)), *self._within),
            default=inf,
        )

    @property
    def _within(self) -> list[float]:
        return [spacing for reading in self.readings if (spacing := reading.spacing_ms) is not None]

    @property
    def per_s(self) -> float | None:
        """How fast a counter grew between the newest two windows. None where it began again, or has one window."""
        if len(self.readings) < 2:
            return None
        before, last = self.readings[-2], self.readings[-1]
        grown = last.total if last.delta else last.high - before.high
        same = last.delta or last.series == before.series
        passed_s = (last.last_ms - before.last_ms) / 1e3
        return grown / passed_s if same and grown >= 0 and passed_s > 0 else None

    def current(self, now_ms: int) -> bool:
        """Whether the next point is not due yet."""
        interval_ms = self.interval_ms
        return interval_ms is not None and now_ms - self.readings[-1].last_ms <= interval_ms + DELIVERED_MS


# The figures of one pool of one instance, by name: used, pending, waits, wait_time, timeouts.
Use = Mapping[str, Figure]


def report_of(use: Use, size: int | None, since_ms: float) -> OccupancyReport | None:
    """The occupancy in the newest readings under the size in force. None without two of them.

    size: None is no limit. since_ms: Unix time since when the size is in force.

    Worked, a point each 60 s: 4, 10, 10 of 10 in use. The newest two count: full in 2 of 2, for 75 s from the last.
    """
    if (used := use.get("used")) is None:
        return None
    under = Figure(used.metric, [reading for reading in used.readings if reading.first_ms >= since_ms])
    interval_ms = under.interval_ms
    if interval_ms is None:
        return None
    last = under.readings[-1]
    recent = _newest(under.readings, max(OVER_MS, 1.5 * under.apart_ms))
    if (readings := sum(reading.moments for reading in recent)) < LEAST_READINGS:
        return None
    return OccupancyReport(
        at_ms=last.last_ms,
        readings=readings,
        full=sum(_full(reading, size) for reading in recent) if size is not None else 0,
        busy=(round(last.mean), last.mean, round(max(reading.high for reading in recent))),
        waiting=_waiting(use.get("pending"), recent[0].first_ms),
        fresh_ms=round(interval_ms) + DELIVERED_MS,
        coarse=under.apart_ms > COARSE_MS,
        queued=_queued(use, max(since_ms, last.last_ms - under.apart_ms - DELIVERED_MS)),
    )


def _newest(readings: Sequence[FigureReading], within_ms: float) -> list[FigureReading]:
    return [reading for reading in readings if readings[-1].last_ms - reading.last_ms <= within_ms]


def _full(reading: FigureReading, size: int) -> int:
    """The moments with as many in use as the size: at least one, where some are and some are not."""
    return reading.moments if reading.low >= size else int(reading.high >= size)


def _waiting(pending: Figure | None, from_ms: int) -> tuple[int, float, int] | None:
    readings = [reading for reading in pending.readings if reading.last_ms >= from_ms] if pending is not None else []
    if not readings:
        return None
    return round(readings[-1].mean), readings[-1].mean, round(max(reading.high for reading in readings))


def _queued(use: Use, since_ms: float) -> float | None:
    """How many callers waited on the mean between the newest two points, both since then (Little's law). None without
    counters of the time and of the waits.

    Worked: callers waited for 1,560 s in all, and 120 s more a minute later, 6,000 times: two on the mean. Where it is
    1.2 million times, 0.1 ms each, none waited: so long a free connection takes.
    """
    waited, waits = (_growth(use.get(name), since_ms) for name in ("wait_time", "waits"))
    if waited is None or waits is None:
        return None
    return waited / NS if waited / NS >= LEAST_WAIT_S * waits else 0.0


def _growth(counter: Figure | None, since_ms: float) -> float | None:
    if counter is None:
        return None
    return Figure(counter.metric, [reading for reading in counter.readings if reading.first_ms >= since_ms]).per_s


def waits_of(key: PoolKey, uses: Iterable[Use], now_ms: int) -> tuple[Reason, ...]:
    """Who waits for the pool, in all instances: CALLERS_WAIT, or nothing where fewer than one does.

    The number is that of the newest points, else the time that callers waited per second (Little's law).
    """
    waiting = waited_per_s = waits_per_s = timeouts_per_s = 0.0
    metrics = set()
    for use in uses:
        current = {name: figure for name, figure in use.items() if figure.current(now_ms)}
        rates = {name: figure.per_s or 0.0 for name, figure in current.items()}
        waited, waits = rates.get("wait_time", 0.0) / NS, rates.get("waits", 0.0)
        counted = current.get("pending")
        of_instance = counted.readings[-1].mean if counted is not None else waited
        if (shown := counted or current.get("wait_time")) is not None and of_instance > 0:
            metrics.add(shown.metric)
        waiting, timeouts_per_s = waiting + of_instance, timeouts_per_s + rates.get("timeouts", 0.0)
        waited_per_s, waits_per_s = (
            (waited_per_s + waited, waits_per_s + waits) if waits else (waited_per_s, waits_per_s)
        )
    if waiting < 1:
        return ()
    text = f"{waiting:.0f} callers wait for a {'connection' if key.side == 'client' else 'thread'}"
    if waits_per_s:
        text += f", for {1e3 * waited_per_s / waits_per_s:.3g} ms on the mean"
    if timeouts_per_s:
        text += f", and {timeouts_per_s:.2g} a second get none in time"
    return (Reason("CALLERS_WAIT", f"{text}, by {', '.join(sorted(metrics))}"),)
