"""A run of a scenario on the compiled engine, step by step."""

from __future__ import annotations

from operator import index

from ..autoscale import VerticalScaler
from ..compiled import processor, ring
from ..fine import PoolWindows
from ..tiers import kernel
from ..tiers.counting import between, counts, durations, sizes
from ..tiers.limits import MOST_THREADS
from ..tiers.run import ARRIVED, BEGUN, WAITS, TierRun
from .memory import first, rates_of, table
from .scenario import Event, Scenario


class FastRun(TierRun):
    """The same scenario and seed give the same events, resizes at the same times provided."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        super().__init__(first(scenario, seed), scenario.seconds)
        self._cpu, self._gate = self._memory["cpus"][0, 0], self._memory["gates"][0, 0]
        self.scenario = scenario
        self.history: list[tuple[float, int]] = [(0.0, scenario.service.threads)]
        """(second, size) of every change, the first size included."""
        self.scaled: list[tuple[float, float]] = []
        """(second, cores) of every change of the CPU limit."""
        for event in scenario.events:
            self._at(event.at_s, lambda event=event: self._apply(event))  # type: ignore[misc]
        if scenario.scaler:
            rule = scenario.scaler
            self._scaler = VerticalScaler(lowest=rule.lowest, highest=rule.highest, step=rule.step)
            self._every_s = rule.every_s
            self._seen = (0.0, 0.0)
            self._at(rule.every_s, self._scale)

    @property
    def size(self) -> int:
        return int(self._gate["size"])

    @property
    def cores(self) -> float:
        return float(self._cpu["cores"])

    @property
    def in_use(self) -> int:
        return int(self._gate["in_use"])

    @property
    def queued(self) -> int:
        return int(ring.length(self._gate["queue"]))

    def resize(self, size: int) -> None:
        """Raises ValueError when the size is not an integer in 1 to 1024."""
        if not 1 <= index(size) <= MOST_THREADS:
            raise ValueError(f"size must be an integer from 1 to {MOST_THREADS}, got {size}")
        kernel.resize(self._memory, 0, index(size))
        self.history.append((self.now, index(size)))

    def set_cores(self, cores: float) -> None:
        """The CPU limit; what is running goes on at the new rate."""
        m, cpu, rates = self._memory, self._cpu, rates_of(self.scenario, cores)
        processor.bring_up(cpu, m["now"])
        cpu["rates"][: len(rates)] = rates
        m["order"] += 1
        processor.change(cpu, m["now"], m["order"], cores)
        self.scaled.append((self.now, cores))

    def core_seconds(self) -> float:
        """Seconds of cores occupied since the start."""
        return processor.used(self._cpu, self.now)

    def windows(self, since_s: float, until_s: float, bucket_ms: int, threshold_ms: float) -> PoolWindows:
        """The whole buckets from ``since_s`` (at least 0) to ``until_s``, and how the pool stands now.

        Spans that have not ended are not in it, as in a pipeline that gets a span when it ends.

        Raises:
            ValueError: a bucket is not 10 to 1,000 ms, or the threshold is not > 0.
        """
        interval = between(since_s, until_s, bucket_ms, threshold_ms)
        return PoolWindows(
            since_ns=interval.since_ns,
            length_ns=interval.length_ns,
            threshold_ns=interval.threshold_ns,
            own=counts(self.rows, BEGUN, interval),
            judge=counts(self.rows, ARRIVED, interval),
            own_durations_ns=durations(self.rows, BEGUN, interval),
            judge_durations_ns=durations(self.rows, ARRIVED, interval),
            sizes=sizes(self.history, interval),
            size=self.size,
            in_use=self.in_use,
            queued=self.queued,
            count=1,
            cores=self.cores,
            replicas=1,
            core_seconds=self.core_seconds(),
            waiting_ns=counts(self.rows, WAITS, interval).busy_ns,
        )

    def _apply(self, event: Event) -> None:
        for name in ("compute", "wait"):
            factor = getattr(event, name)
            if factor is not None:
                self._memory["tiers"][0][f"{name}_factor"] = factor
        if event.hold is not None and self.scenario.convoy:
            self._memory["holds"] = event.hold * table(self.scenario.convoy.seconds)
        if event.cores is not None:
            self.set_cores(self.scenario.service.cores * event.cores)

    def _scale(self) -> None:
        """A look of the hardware autoscaler, at the utilization since the look before."""
        at, used = self._seen
        self._seen = self.now, self.core_seconds()
        utilization = (self._seen[1] - used) / ((self._seen[0] - at) * self.cores)
        decided = self._scaler.decide(self.cores, utilization)
        if decided != self.cores:
            self.set_cores(decided)
        self._at(self.now + self._every_s, self._scale)
