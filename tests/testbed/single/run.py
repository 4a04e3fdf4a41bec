"""A run of a scenario on the compiled engine, step by step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from operator import index

import numpy as np

from ..autoscale import VerticalScaler
from ..fine import PoolWindows
from . import kernel, processor, ring
from .counting import ARRIVED, BEGUN, counts, durations
from .memory import ROWS, Floats, Ints, first, rates
from .scenario import MOST_THREADS, Event, Scenario


class FastRun:
    """The same scenario and seed give the same events, resizes at the same times provided, as ``plain.PlainRun``."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.history: list[tuple[float, int]] = [(0.0, scenario.service.threads)]
        """(second, size) of every change, the first size included."""
        self.scaled: list[tuple[float, float]] = []
        """(second, cores) of every change of the CPU limit."""
        self._memory = first(scenario, seed)
        self._rows: Floats = np.empty((4 * ROWS, 3))
        self._finished = 0
        self._numbers = count()
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        for event in scenario.events:
            self._at(event.at_s, lambda event=event: self._apply(event))  # type: ignore[misc]
        if scenario.scaler:
            rule = scenario.scaler
            self._scaler = VerticalScaler(lowest=rule.lowest, highest=rule.highest, step=rule.step)
            self._every_s = rule.every_s
            self._seen = (0.0, 0.0)
            self._at(rule.every_s, self._scale)

    @property
    def now(self) -> float:
        return float(self._memory["now"])

    @property
    def size(self) -> int:
        return int(self._memory["size"])

    @property
    def cores(self) -> float:
        return float(self._memory["cores"])

    @property
    def in_use(self) -> int:
        return int(self._memory["in_use"])

    @property
    def queued(self) -> int:
        return int(ring.length(self._memory["queue"]))

    @property
    def finished(self) -> int:
        """Requests, those that were turned away included."""
        return self._finished

    def until(self, second: float) -> None:
        """Everything up to and including ``second`` happens.

        Raises:
            ValueError: it lies before ``now``, or after the scenario's end.
        """
        if not self.now <= second <= self.scenario.seconds:
            raise ValueError(f"run until {second:g} s: must be {self.now:g} to {self.scenario.seconds:g}")
        while self._agenda and self._agenda[0][0] <= second:
            at, _, action = heappop(self._agenda)
            self._advance(at)
            action()
        self._advance(second)

    def resize(self, size: int) -> None:
        """Raises ValueError when the size is not an integer in 1 to 1024."""
        if not 1 <= index(size) <= MOST_THREADS:
            raise ValueError(f"size must be an integer from 1 to {MOST_THREADS}, got {size}")
        kernel.resize(self._memory, index(size))
        self.history.append((self.now, index(size)))

    def set_cores(self, cores: float) -> None:
        """The CPU limit; what is running goes on at the new rate."""
        processor.bring_up(self._memory)
        self._memory["rates"] = rates(self.scenario, cores)
        processor.change(self._memory, cores)
        self.scaled.append((self.now, cores))

    def core_seconds(self) -> float:
        """Seconds of cores occupied since the start; looking changes nothing (``cpu.Cpu.used``)."""
        m = self._memory
        if m["stands"]:
            return float(m["core_seconds"])
        running = min(float(m["jobs"][0]["order"]), self.cores)
        return float(m["core_seconds"] + (m["now"] - m["since"]) * running)

    def outcomes(self) -> tuple[Floats, Floats]:
        """Second of each response and what it took, s, infinite where it failed; each of shape (finished,)."""
        arrived, begun, ended = self._rows[: self._finished].T
        return ended.copy(), np.where(begun < 0, np.inf, ended - arrived)

    def windows(self, since_s: float, until_s: float, bucket_ms: int, threshold_ms: float) -> PoolWindows:
        """The whole buckets from ``since_s`` (at least 0) to ``until_s``, and how the pool stands now.

        Spans that have not ended are not in it, as in a pipeline that gets a span when it ends.

        Raises:
            ValueError: a bucket is not 10 to 1,000 ms, or the threshold is not > 0.
        """
        if not 10 <= bucket_ms <= 1000:
            raise ValueError(f"bucket_ms must be an integer from 10 to 1000, got {bucket_ms}")
        if not 0 < threshold_ms < float("inf"):
            raise ValueError(f"threshold_ms must be > 0 and finite, got {threshold_ms}")
        length, threshold = bucket_ms * 1_000_000, round(threshold_ms * 1e6)
        since, until = (int(round(max(0.0, second) * 1e9) // length) for second in (since_s, until_s))
        buckets = max(0, until - since)
        rows, recorded, since_ns = self._rows, self._finished, since * length
        return PoolWindows(
            since_ns=since_ns,
            length_ns=length,
            threshold_ns=threshold,
            own=counts(rows, recorded, BEGUN, since_ns, buckets, length, threshold),
            judge=counts(rows, recorded, ARRIVED, since_ns, buckets, length, threshold),
            own_durations_ns=durations(rows, recorded, BEGUN, since_ns, until * length),
            judge_durations_ns=durations(rows, recorded, ARRIVED, since_ns, until * length),
            sizes=self._sizes(since_ns, buckets, length),
            size=self.size,
            in_use=self.in_use,
            queued=self.queued,
            count=1,
            cores=self.cores,
            replicas=1,
            core_seconds=self.core_seconds(),
        )

    def _sizes(self, since_ns: int, buckets: int, length_ns: int) -> Ints:
        starts = (since_ns + np.arange(buckets) * length_ns) / 1e9
        before = bisect_right(self.history, since_ns / 1e9, key=lambda change: change[0]) - 1
        times, sizes = zip(*self.history[before:], strict=True)
        return np.array(sizes, dtype=np.int64)[np.searchsorted(times, starts, side="right") - 1]

    def _at(self, second: float, action: Callable[[], None]) -> None:
        heappush(self._agenda, (second, next(self._numbers), action))

    def _advance(self, second: float) -> None:
        reached = False
        while not reached:
            reached = kernel.advance(self._memory, second)
            new = int(self._memory["recorded"])
            if self._finished + new > len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            self._rows[self._finished : self._finished + new] = self._memory["rows"][:new]
            self._finished += new
            self._memory["recorded"] = 0

    def _apply(self, event: Event) -> None:
        for name in ("compute", "wait"):
            factor = getattr(event, name)
            if factor is not None:
                self._memory[f"{name}_factor"] = factor
        if event.cores is not None:
            self.set_cores(self.scenario.service.cores * event.cores)

    def _scale(self) -> None:
        """A look of the hardware autoscaler (``autoscale_agent.VerticalAgent``)."""
        at, used = self._seen
        self._seen = self.now, self.core_seconds()
        utilization = (self._seen[1] - used) / ((self._seen[0] - at) * self.cores)
        decided = self._scaler.decide(self.cores, utilization)
        if decided != self.cores:
            self.set_cores(decided)
        self._at(self.now + self._every_s, self._scale)
