"""Latency samples of containers, in the form of table ``container_latency`` and of ``./sluice subsets solve``.

A sample is a container in a window: its rate, what was used of its host (ourselves included), and mean and standard
deviation of the ln of its visits' times in ms. The times are its own, without what its calls took, so that those of a
path add up; ``whole`` has them with it, as a SERVER span has.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .application import Application, Host
from .calibration import Floats
from .fleet import Fleet
from .run import Counters, MeshRun
from .solution import Solution

COLUMNS = ("service", "rate_per_s", "cpu", "memory_bandwidth", "network", "mu", "sigma")
FEWEST = 20
"""Visits of a sample; of fewer none is made."""
SETTLE_S, WINDOW_S = 10.0, 30.0
MOST_USED = 0.7
WORKLOADS = (0.4, 1.4)


@dataclass(frozen=True)
class Sample:
    service: str
    container: str
    visits: int
    rate_per_s: float
    utilization: tuple[float, float, float]
    mu: float
    sigma: float


def between(before: Counters, after: Counters, fleet: Fleet, whole: bool = False) -> list[Sample]:
    """Of every container with enough visits that ended between the two."""
    seconds = after.second - before.second
    used = (after.utilization_s - before.utilization_s) / seconds
    first, second = ("whole", "whole2") if whole else ("own", "own2")
    results = []
    for i, (old, new) in enumerate(zip(before.tallies, after.tallies, strict=True)):
        visits = int(new["visits"] - old["visits"])
        if visits < FEWEST:
            continue
        mu = float(new[first] - old[first]) / visits
        variance = float(new[second] - old[second]) / visits - mu * mu
        cpu, memory_bandwidth, network = used[fleet.host[i]].tolist()
        sigma = max(0.0, variance * visits / (visits - 1)) ** 0.5
        service = fleet.services[fleet.service[i]]
        results.append(
            Sample(service, fleet.names[i], visits, visits / seconds, (cpu, memory_bandwidth, network), mu, sigma)
        )
    return results


def profiled(
    application: Application,
    solution: Solution,
    seed: int,
    combinations: int = 16,
    windows_each: int = 2,
    most_used: float = MOST_USED,
    workloads: tuple[float, float] = WORKLOADS,
) -> list[Sample]:
    """As in Microns 7.3: combinations of contention and workload one after the other, windows of 30 s in each.

    Each resource of each host is drawn from 0 to ``most_used`` on its own, the workload from ``workloads`` times the
    application's; the first ``SETTLE_S`` of a combination are left out.
    """
    rng = random.Random(f"mesh/profile/{seed}")
    length = round(SETTLE_S + windows_each * WINDOW_S)
    levels = [level for _ in range(combinations) for level in [rng.uniform(*workloads)] * length]
    run = MeshRun(application, solution, seed, levels=np.array(levels))
    samples: list[Sample] = []
    for combination in range(combinations):
        run.contend({name: _drawn(name, rng, most_used) for name in run.fleet.hosts})
        run.until(combination * length + SETTLE_S)
        for _ in range(windows_each):
            before = run.counters()
            run.until(run.now + WINDOW_S)
            samples += between(before, run.counters(), run.fleet)
    return samples


def text(samples: Sequence[Sample]) -> str:
    """The CSV that ``./sluice subsets solve`` reads."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for sample in samples:
        figures: Sequence[float] = (sample.rate_per_s, *sample.utilization, sample.mu, sample.sigma)
        writer.writerow([sample.service, *(f"{figure:.6g}" for figure in figures)])
    return out.getvalue()


def _drawn(name: str, rng: random.Random, most_used: float) -> Host:
    cpu, memory_bandwidth, network = (rng.uniform(0, most_used) for _ in range(3))
    return Host(name=name, cpu=cpu, memory_bandwidth=memory_bandwidth, network=network)


def measured(run: MeshRun, before: Counters, after: Counters) -> dict[str, Host]:
    """What was used of each host between the two, ourselves included: what an application is told of its hosts."""
    used: Floats = (after.utilization_s - before.utilization_s) / (after.second - before.second)
    return {
        name: Host(name=name, cpu=float(cpu), memory_bandwidth=float(memory), network=float(network))
        for name, (cpu, memory, network) in zip(run.fleet.hosts, used, strict=True)
    }
