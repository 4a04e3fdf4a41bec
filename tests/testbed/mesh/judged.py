"""What a run gives: latencies of the users' requests, what it cost, and what each pair took."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .application import Application
from .calibration import BUFFER_MB, Floats
from .memory import ARRIVED, ENDED, FAILED, FINEST, ROOT, STEP
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
    by_root: dict[str, Floats]
    """The same of each root's."""
    cores: float
    """CPU used by all containers, mean."""
    memory_mb: float
    """Of connections' buffers."""
    connections: int
    pair_ms: dict[tuple[str, str], float]
    """95th percentile of the own time of the downstream containers' visits, by pair."""

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
    before, pairs = run.counters(), run.engine.pairs()
    run.until(warm_up_s + requests / sum(root.rate_per_s for root in application.roots))
    after = run.counters()
    rows = run.engine.rows()
    rows = rows[rows[:, ARRIVED] >= warm_up_s]
    seconds = after.second - before.second
    names = [service.name for service in application.services]
    return Judged(
        requests=len(rows),
        failed=int(rows[:, FAILED].sum()),
        latency_ms=percentiles(rows),
        by_root={root.name: percentiles(rows[rows[:, ROOT] == i]) for i, root in enumerate(application.roots)},
        cores=float((after.used_core_s - before.used_core_s).sum() / seconds),
        memory_mb=float(run.ends.sum() * BUFFER_MB),
        connections=run.connections,
        pair_ms={
            (names[up], names[down]): percentile_of(counts, 0.95)
            for (up, down), counts in zip(run.graph.pairs, run.engine.pairs() - pairs, strict=True)
        },
    )


def percentiles(rows: Floats) -> Floats:
    """ms, NaN where there is no row."""
    if not len(rows):
        return np.full(len(PERCENTILES), np.nan)
    latency = np.where(rows[:, FAILED] > 0, np.inf, (rows[:, ENDED] - rows[:, ARRIVED]) * 1e3)
    result: Floats = np.percentile(latency, PERCENTILES, method="higher")
    return result


def percentile_of(counts: np.ndarray, share: float) -> float:
    """Upper edge of the bin in which it lies, ms: at most 2 % too high; NaN where nothing was counted."""
    total = counts.sum()
    if not total:
        return float("nan")
    bin_ = int(np.searchsorted(np.cumsum(counts), share * total))
    return float(np.exp(FINEST + STEP * (bin_ + 1)))
