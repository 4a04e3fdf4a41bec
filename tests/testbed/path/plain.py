"""A path on the testbed's own engine: what the compiled one is held against."""

from __future__ import annotations

import numpy as np

from ..compiled.run import Floats
from ..distributions import Constant, Exponential, LogNormal
from ..events import Replicas
from ..fine import FineWindows, PoolWindows
from ..simulation import Scenario as Whole
from ..simulation import Simulation
from ..topology import Call, Compute, PoolSpec, ServiceSpec, Topology, Wait
from .memory import CALLEE, CALLER, CONNECTIONS, FRONT, OPERATION, QUEUE_LIMIT, THREADS
from .scenario import PathScenario


def plain(scenario: PathScenario) -> Whole:
    """A front-end without work or bounds calls the callers, so that there are spans that judge them; no network."""
    caller, callee = scenario.caller, scenario.callee

    def time(ms: float) -> LogNormal:
        return LogNormal(ms / 1e3, scenario.sigma)

    services = (
        ServiceSpec(FRONT, {OPERATION: (Call(CALLER, OPERATION),)}),
        ServiceSpec(
            CALLER,
            {OPERATION: (Compute(time(caller.compute_ms)), Call(CALLEE, OPERATION))},
            cores=caller.cores,
            contention=caller.contention,
            crosstalk=caller.crosstalk,
            threads=PoolSpec(caller.threads, QUEUE_LIMIT, name=THREADS),
            connections={CALLEE: PoolSpec(caller.connections, QUEUE_LIMIT, name=CONNECTIONS)},
            replicas=caller.replicas,
        ),
        ServiceSpec(
            CALLEE,
            {OPERATION: (Compute(time(callee.compute_ms)), Wait(time(callee.wait_ms)))},
            cores=callee.cores,
            contention=callee.contention,
            crosstalk=callee.crosstalk,
        ),
    )
    return Whole(
        Topology(services, FRONT, network=Constant(0.0)),
        {OPERATION: 1.0},
        Exponential(scenario.think_s),
        scenario.users,
        scenario.shape,
        events=tuple(Replicas(event.at_s, CALLER, event.replicas) for event in scenario.events),
    )


class PlainPathRun:
    """As ``run.PathRun``, slower."""

    def __init__(self, scenario: PathScenario, seed: int) -> None:
        self._fine = FineWindows()
        self._outcomes: list[tuple[float, float]] = []
        self._simulation = Simulation(plain(scenario), seed, self._fine.add, self._outcome)
        self._fine.watch(self._simulation.pools.values())

    def until(self, second: float) -> None:
        self._simulation.run_until(second)

    def resize(self, pool: str, size: int) -> None:
        self._simulation.pools[pool].resize(size)

    def outcomes(self) -> tuple[Floats, Floats]:
        at, latency = np.array(self._outcomes).reshape(-1, 2).T
        return at, latency

    def windows(self, pool: str, since_s: float, until_s: float, bucket_ms: int, threshold_ms: float) -> PoolWindows:
        seconds = until_s - max(0.0, since_s)
        return self._fine.last(self._simulation.pools[pool], until_s, seconds, bucket_ms, threshold_ms)

    def _outcome(self, now: float, seconds: float, failed: bool) -> None:
        self._outcomes.append((now, float("inf") if failed else seconds))
