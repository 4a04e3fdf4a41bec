"""A scenario on the testbed's own engine: what the compiled one is held against."""

from __future__ import annotations

import numpy as np

from .. import events as happen
from ..autoscale import VerticalScaler
from ..autoscale_agent import VerticalAgent
from ..distributions import Constant, Exponential, LogNormal
from ..fine import FineWindows, PoolWindows
from ..simulation import Scenario as Whole
from ..simulation import Simulation
from ..topology import Call, Compute, Hold, PoolSpec, ServiceSpec, Step, Topology, Wait
from .memory import QUEUE_LIMIT, Floats
from .names import DEPENDENCY, OPERATION, POOL, SERVICE
from .scenario import MOST_THREADS, Scenario

FRONT = "front"


def plain(scenario: Scenario) -> Whole:
    """A front-end without work or bounds calls the service, so that there are spans of a caller; no network between."""
    service, dependency = scenario.service, scenario.dependency

    def time(ms: float) -> LogNormal:
        return LogNormal(ms / 1e3, service.sigma)

    steps: list[Step] = [Compute(time(service.compute_ms))]
    if scenario.convoy:
        steps.append(Hold(scenario.convoy))
    if service.wait_ms:
        steps.append(Wait(time(service.wait_ms)))
    if dependency.slots:
        steps.append(Call(DEPENDENCY, OPERATION))
    bounded = ServiceSpec(
        SERVICE,
        {OPERATION: tuple(steps)},
        cores=service.cores,
        contention=service.contention,
        crosstalk=service.crosstalk,
        cliff=scenario.cliff,
        pauses=scenario.pauses,
        threads=PoolSpec(service.threads, QUEUE_LIMIT, name=POOL, max=MOST_THREADS),
    )
    services = [ServiceSpec(FRONT, {OPERATION: (Call(SERVICE, OPERATION),)}), bounded]
    if dependency.slots:
        slots = PoolSpec(dependency.slots, MOST_THREADS)
        services.append(ServiceSpec(DEPENDENCY, {OPERATION: (Wait(time(dependency.ms)),)}, threads=slots))
    return Whole(
        Topology(tuple(services), FRONT, network=Constant(0.0)),
        {OPERATION: 1.0},
        Exponential(scenario.think_s),
        scenario.users,
        scenario.shape,
        events=_events(scenario),
    )


def _events(scenario: Scenario) -> tuple[happen.Event, ...]:
    found: list[happen.Event] = []
    compute = wait = 1.0
    for event in sorted(scenario.events, key=lambda event: event.at_s):
        compute = compute if event.compute is None else event.compute
        wait = wait if event.wait is None else event.wait
        found.append(happen.ServiceTime(event.at_s, SERVICE, compute, wait))
        if event.cores is not None:
            found.append(happen.CpuLimit(event.at_s, SERVICE, scenario.service.cores * event.cores))
    return tuple(found)


class PlainRun:
    """As ``run.FastRun``, some twenty times slower."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self._fine = FineWindows()
        self._outcomes: list[tuple[float, float]] = []
        self._simulation = Simulation(plain(scenario), seed, self._fine.add, self._outcome)
        self._pool = self._simulation.pools[POOL]
        self._fine.watch([self._pool])
        self._service = self._simulation.application.services[SERVICE]
        self.history = self._pool.history
        self.scaled: list[tuple[float, float]] = []
        """Of the scaler only."""
        if scenario.scaler:
            rule = scenario.scaler
            scaler = VerticalScaler(lowest=rule.lowest, highest=rule.highest, step=rule.step)
            self.scaled = VerticalAgent(self._simulation, SERVICE, scaler, rule.every_s).applied

    @property
    def in_use(self) -> int:
        return self._pool.in_use

    @property
    def queued(self) -> int:
        return self._pool.queued

    def until(self, second: float) -> None:
        self._simulation.run_until(second)

    def resize(self, size: int) -> None:
        self._pool.resize(size)

    def core_seconds(self) -> float:
        return self._service.core_seconds()

    def outcomes(self) -> tuple[Floats, Floats]:
        at, latency = np.array(self._outcomes).reshape(-1, 2).T
        return at, latency

    def windows(self, since_s: float, until_s: float, bucket_ms: int, threshold_ms: float) -> PoolWindows:
        seconds = until_s - max(0.0, since_s)
        return self._fine.last(self._pool, until_s, seconds, bucket_ms, threshold_ms)

    def _outcome(self, now: float, seconds: float, failed: bool) -> None:
        self._outcomes.append((now, float("inf") if failed else seconds))
