"""One application, one deployment, one strategy: what its users see, means over seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from bench.subsets.strategies import Strategy
from testbed.mesh.application import Application
from testbed.mesh.judged import Judged, judge
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import Deployment, deploy
from testbed.mesh.published import rocksteady
from testbed.mesh.run import MeshRun
from testbed.mesh.samples import measured, profiled, text

SEEDS = (1, 2, 3)
"""Each is another placement, other hosts, other requests."""
REQUESTS = 40_000
PROFILED_AT = 1000
"""Added to the seed where latencies are learnt: other hosts, another placement and other mixes than those judged."""


@dataclass(frozen=True)
class Cell:
    """Means over seeds; latencies in ms. below_p95: p95 of requests without the own time of the container that users
    call (`Judged.below_ms`)."""

    p50: float
    p95: float
    p99: float
    cores: float
    connections: float
    below_p95: float


def cell(shape: str, how: Deployment, solve: Strategy, routing: str, seeds: tuple[int, ...] = SEEDS) -> Cell:
    results = [one(shape, replace(how, seed=seed), solve, routing) for seed in seeds]
    p50, p95, p99 = np.mean([result.latency_ms for result in results], axis=0)
    return Cell(
        float(p50),
        float(p95),
        float(p99),
        float(np.mean([result.cores for result in results])),
        float(np.mean([result.connections for result in results])),
        float(np.mean([result.below_ms[1] for result in results])),
    )


def one(shape: str, how: Deployment, solve: Strategy, routing: str) -> Judged:
    application = deploy(SHAPES[shape], how)
    return judge(application, solve(with_measured_hosts(shape, how).public()), how.seed, REQUESTS, routing)


@cache
def with_measured_hosts(shape: str, how: Deployment) -> Application:
    """With its hosts as they were measured for half a minute under other connections, ourselves included."""
    application = deploy(SHAPES[shape], how)
    run = MeshRun(application, rocksteady(application, how.seed), how.seed + PROFILED_AT)
    run.until(10.0)
    before = run.counters()
    run.until(40.0)
    hosts = measured(run, before, run.counters())
    return application.model_copy(update={"hosts": [hosts[host.name] for host in application.hosts]})


@cache
def samples(shape: str, containers: int, combinations: int = 16) -> str:
    """What latencies are learnt from, of another placement."""
    how = Deployment(containers, seed=PROFILED_AT)
    application = deploy(SHAPES[shape], how)
    return text(profiled(application, rocksteady(application, how.seed), how.seed, combinations))
