"""The result of a run: latencies of the users' requests, and its cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .application import Application
from .calibration import Floats
from .memory import ARRIVED, ENDED, FAILED, OWN
from .run import MeshRun
from .solution import Solution

PERCENTILES = (50.0, 95.0, 99.0)


@dataclass(frozen=True)
class Judged:
    """Latencies in ms; a request that failed took forever. Everything after the warm-up."""

    requests: int
    failed: int
    latency_ms: Floats
    """Percentiles 50, 95, 99 of all requests."""
    below_ms: Floats
    """The same without the own time of the container that the user called: users call the first service evenly, so no
    strategy changes that part."""
    cores: float
    """CPU used by all containers, mean."""
    connections: int

    @property
    def p95_ms(self) -> float:
        return float(self.latency_ms[1])


def judge(
    application: Application,
    solution: Solution,
    seed: int,
    requests: int = 200_000,
    routing: str = "round_robin",
    warm_up_s: float = 10.0,
) -> Judged:
    """A run of about so many requests at the application's rates, after the warm-up."""
    run = MeshRun(application, solution, seed, routing)
    run.until(warm_up_s)
    before = run.counters()
    run.until(warm_up_s + requests / sum(root.rate_per_s for root in application.roots))
    after = run.counters()
    rows = run.engine.rows()
    rows = rows[rows[:, ARRIVED] >= warm_up_s]
    seconds = after.second - before.second
    return Judged(
        requests=len(rows),
        failed=int(rows[:, FAILED].sum()),
        latency_ms=percentiles(rows),
        below_ms=percentiles(rows, own=False),
        cores=float((after.used_core_s - before.used_core_s).sum() / seconds),
        connections=run.connections,
    )


def percentiles(rows: Floats, own: bool = True) -> Floats:
    """ms, NaN where there is no row. own: with the time in which the container that the user called computed."""
    if not len(rows):
        return np.full(len(PERCENTILES), np.nan)
    took = rows[:, ENDED] - rows[:, ARRIVED] - (0.0 if own else rows[:, OWN])
    latency = np.where(rows[:, FAILED] > 0, np.inf, took * 1e3)
    result: Floats = np.percentile(latency, PERCENTILES, method="higher")
    return result
