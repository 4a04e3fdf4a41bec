"""Latency samples of containers, in the form of table ``container_latency`` and of ``./sluice subsets solve``.

A sample is a container in a window: its rate, what was used of its host (ourselves included), and mean and standard
deviation of the ln of its visits' times in ms. The times are its own, without what its calls took, so that those of a
path add up; ``whole`` has them with it, as a SERVER span has.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .application import Application, Host
from .calibration import Floats
from .fleet import Fleet
from .memory import TALLY
from .run import Counters, MeshRun
from .solution import Solution

COLUMNS = ("service", "rate_per_s", "cpu", "memory_bandwidth", "network", "mu", "sigma")
FEWEST = 20
"""Visits of a sample; of fewer none is made."""
SETTLE_S = 10.0


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
    """Of every container with enough visits that ended between the two; those that were added in between, too."""
    seconds = after.second - before.second
    was = np.zeros(len(after.tallies), dtype=TALLY)
    was[: len(before.tallies)] = before.tallies
    used = (after.utilization_s - before.utilization_s) / seconds
    first, second = ("whole", "whole2") if whole else ("own", "own2")
    found = []
    for i, (old, new) in enumerate(zip(was, after.tallies, strict=True)):
        visits = int(new["visits"] - old["visits"])
        if visits < FEWEST:
            continue
        mu = float(new[first] - old[first]) / visits
        variance = float(new[second] - old[second]) / visits - mu * mu
        cpu, memory_bandwidth, network = used[fleet.host[i]].tolist()
        sigma = max(0.0, variance * visits / (visits - 1)) ** 0.5
        service = fleet.services[fleet.service[i]]
        found.append(
            Sample(service, fleet.names[i], visits, visits / seconds, (cpu, memory_bandwidth, network), mu, sigma)
        )
    return found


@dataclass(frozen=True)
class Window:
    """Some seconds of a run. pairs: own times of the visits that ended in it by pair, shape (pairs, BINS)."""

    run: MeshRun
    before: Counters
    after: Counters
    pairs: NDArray[np.int64]


def window(run: MeshRun, seconds: float) -> Window:
    """The next seconds of a run."""
    before, pairs = run.counters(), run.engine.pairs()
    run.until(run.now + seconds)
    return Window(run, before, run.counters(), run.engine.pairs() - pairs)


def windows(
    application: Application,
    solution: Solution,
    seed: int,
    combinations: int = 16,
    each: int = 2,
    window_s: float = 30.0,
    most_used: float = 0.7,
    workloads: tuple[float, float] = (0.4, 1.4),
) -> Iterator[Window]:
    """As in Microns 7.3: combinations of contention and workload one after the other, windows of 30 s in each.

    Each resource of each host is drawn from 0 to ``most_used`` on its own, the workload from ``workloads`` times the
    application's; the first ``SETTLE_S`` of a combination are left out.
    """
    rng = random.Random(f"mesh/profile/{seed}")
    length = round(SETTLE_S + each * window_s)
    levels = [level for _ in range(combinations) for level in [rng.uniform(*workloads)] * length]
    run = MeshRun(application, solution, seed, levels=np.array(levels))
    for combination in range(combinations):
        run.contend({name: _drawn(name, rng, most_used) for name in run.fleet.hosts})
        run.until(combination * length + SETTLE_S)
        for _ in range(each):
            yield window(run, window_s)


def profiled(
    application: Application, solution: Solution, seed: int, combinations: int = 16, windows_each: int = 2
) -> list[Sample]:
    """The samples of ``windows``."""
    found = windows(application, solution, seed, combinations, windows_each)
    return [sample for one in found for sample in between(one.before, one.after, one.run.fleet)]


def text(samples: Sequence[Sample]) -> str:
    """The CSV that ``./sluice subsets solve`` reads."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in samples:
        figures: Sequence[float] = (one.rate_per_s, *one.utilization, one.mu, one.sigma)
        writer.writerow([one.service, *(f"{figure:.6g}" for figure in figures)])
    return out.getvalue()


def _drawn(name: str, rng: random.Random, most: float) -> Host:
    return Host(
        name=name, cpu=rng.uniform(0, most), memory_bandwidth=rng.uniform(0, most), network=rng.uniform(0, most)
    )


def measured(run: MeshRun, before: Counters, after: Counters) -> dict[str, Host]:
    """What was used of each host between the two, ourselves included: what an application is told of its hosts."""
    used: Floats = (after.utilization_s - before.utilization_s) / (after.second - before.second)
    return {
        name: Host(name=name, cpu=float(cpu), memory_bandwidth=float(memory), network=float(network))
        for name, (cpu, memory, network) in zip(run.fleet.hosts, used, strict=True)
    }
