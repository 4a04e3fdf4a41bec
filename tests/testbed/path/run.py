"""A run over a path on the compiled engine, step by step."""

from __future__ import annotations

from operator import index

from ..autoscale import HorizontalScaler
from ..columns import Ints
from ..compiled import processor, ring
from ..fine import PoolWindows
from ..tiers import kernel
from ..tiers.counting import NONE, Buckets, between, counts, durations, sizes
from ..tiers.limits import MOST_INSTANCES
from ..tiers.run import ARRIVED, BEGUN, CONNECTED, INSTANCE, WAITS, TierRun
from .memory import CONNECTIONS, THREADS, callers, first
from .scenario import MOST_SIZE, Change, PathScenario

SPANS = {THREADS: (BEGUN, INSTANCE, ARRIVED, NONE), CONNECTIONS: (CONNECTED, INSTANCE, BEGUN, INSTANCE)}
"""By pool: where its own spans begin and in which column their instance stands, and the same of those that judge it."""
BEHIND_A_FRONT = {
    THREADS: (CONNECTED, INSTANCE, WAITS, NONE),
    CONNECTIONS: (CONNECTED + 1, INSTANCE, CONNECTED, INSTANCE),
}


class PathRun(TierRun):
    """The same scenario and seed give the same events, the same resizes provided."""

    def __init__(self, scenario: PathScenario, seed: int) -> None:
        super().__init__(first(scenario, seed), scenario.seconds)
        self.scenario = scenario
        caller = scenario.caller
        self.history: dict[str, list[tuple[float, int]]] = {
            THREADS: [(0.0, caller.threads)],
            CONNECTIONS: [(0.0, caller.connections)],
        }
        """By pool: (second, size) of every change, the first size included."""
        self._spans = BEHIND_A_FRONT if scenario.front else SPANS
        self._tier = callers(scenario)
        self._tiers = {THREADS: self._tier, CONNECTIONS: self._tier + 1}
        self.scaled: list[tuple[float, int]] = []
        """(second, replicas) of every change."""
        self._gone: list[int] = []
        self._rates = processor.rates(MOST_SIZE, caller.cores, caller.contention, caller.crosstalk, None)
        self._scale(caller.replicas)
        for event in scenario.events:
            self._at(event.at_s, lambda event=event: self._apply(event))  # type: ignore[misc]
        if rule := scenario.scaler:
            self._scaler = HorizontalScaler(lowest=rule.lowest, highest=rule.highest)
            self._seen = (0.0, 0.0)
            self._at(rule.every_s, self._look)

    @property
    def replicas(self) -> int:
        return int(self._memory["rotating"])

    def size(self, pool: str) -> int:
        """Per replica."""
        return self.history[pool][-1][1]

    def in_use(self, pool: str) -> int:
        """Sum over the replicas in rotation, as ``queued``."""
        gates = self._memory["gates"][self._tiers[pool]]
        return sum(int(gates[i]["in_use"]) for i in self._rotation())

    def queued(self, pool: str) -> int:
        gates = self._memory["gates"][self._tiers[pool]]
        return sum(int(ring.length(gates[i]["queue"])) for i in self._rotation())

    def resize(self, pool: str, size: int) -> None:
        """Of every replica; raises ValueError when the size is not an integer in 1 to 256."""
        if not 1 <= index(size) <= MOST_SIZE:
            raise ValueError(f"size must be an integer from 1 to {MOST_SIZE}, got {size}")
        kernel.resize(self._memory, self._tiers[pool], index(size))
        self.history[pool].append((self.now, index(size)))

    def core_seconds(self, pool: str) -> float:
        """Seconds of cores occupied since the start by the service whose work the pool bounds."""
        cpus = self._memory["cpus"]
        if pool == CONNECTIONS:
            return processor.used(cpus[self._tier + 1, 0], self.now)
        return sum(processor.used(cpus[self._tier, i], self.now) for i in (*self._rotation(), *self._gone))

    def windows(self, pool: str, since_s: float, until_s: float, bucket_ms: int, threshold_ms: float) -> PoolWindows:
        """As ``single.run.FastRun.windows``; threads are judged by their callers, connections by who holds them."""
        interval = between(since_s, until_s, bucket_ms, threshold_ms)
        own, own_of, judge, judge_of = self._spans[pool]
        built = int(self._memory["built"])
        bounded = self.scenario.caller if pool == THREADS else self.scenario.callee
        return PoolWindows(
            since_ns=interval.since_ns,
            length_ns=interval.length_ns,
            threshold_ns=interval.threshold_ns,
            own=counts(self.rows, own, interval, own_of, built),
            judge=counts(self.rows, judge, interval, judge_of, built if judge_of != NONE else 1),
            own_durations_ns=durations(self.rows, own, interval),
            judge_durations_ns=durations(self.rows, judge, interval),
            sizes=sizes(self.history[pool], interval),
            size=self.size(pool),
            in_use=self.in_use(pool),
            queued=self.queued(pool),
            count=self.replicas,
            cores=bounded.cores,
            replicas=self.replicas if pool == THREADS else 1,
            core_seconds=self.core_seconds(pool),
            waiting_ns=self._waiting(interval) if pool == THREADS else None,
        )

    def _rotation(self) -> list[int]:
        return [int(i) for i in self._memory["rotation"][: self.replicas]]

    def _waiting(self, interval: Buckets) -> Ints:
        """Of the callers for the callee."""
        begins, instance, *_ = self._spans[CONNECTIONS]
        return counts(self.rows, begins, interval, instance, int(self._memory["built"])).busy_ns

    def _apply(self, event: Change) -> None:
        if event.replicas is not None:
            self._scale(event.replicas)
        if event.compute is not None:
            self._memory["tiers"][self._tier]["compute_factor"] = event.compute
        if event.wait is not None:
            self._memory["tiers"][self._tier + 1]["wait_factor"] = event.wait

    def _look(self) -> None:
        """Of the autoscaler, at the utilization since it looked or scaled; a new replica serves once it is ready."""
        rule = self.scenario.scaler
        assert rule is not None
        at, used = self._seen
        cores = self.replicas * self.scenario.caller.cores
        wanted = self._scaler.decide(self.replicas, (self.core_seconds(THREADS) - used) / ((self.now - at) * cores))
        if wanted > self.replicas and self._memory["built"] < MOST_INSTANCES:
            self._at(self.now + rule.ready_s, lambda: self._take(wanted))
        else:
            self._take(min(wanted, self.replicas))

    def _take(self, replicas: int) -> None:
        """And looks again later."""
        assert self.scenario.scaler is not None
        if replicas != self.replicas:
            self._scale(replicas)
        self._seen = self.now, self.core_seconds(THREADS)
        self._at(self.now + self.scenario.scaler.every_s, self._look)

    def _scale(self, replicas: int) -> None:
        """New ones are built with the sizes in force; the newest ones go first."""
        m = self._memory
        if m["rotating"]:
            self.scaled.append((self.now, replicas))
        while m["rotating"] < replicas:
            new = m["built"]
            processor.build(m["cpus"][self._tier, new], self.scenario.caller.cores, self._rates, self.now)
            for pool, tier in self._tiers.items():
                m["gates"][tier, new]["size"] = self.size(pool)
            m["rotation"][m["rotating"]] = new
            m["built"] += 1
            m["rotating"] += 1
        self._gone += reversed(self._rotation()[replicas:])
        m["rotating"] = replicas
