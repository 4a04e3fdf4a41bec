"""The error of latency models on deployments that nobody learnt from (Microns 7.3, tables 3 and 4).

Learnt from seven deployments whose hosts are used up to 10, 20 ... 70 %, each resource drawn on its own, at workloads
of 0.3 to 1.3; so load and contention are correlated as little as they can be. Judged on a minute of others: another
placement, hosts of low and high imbalance, connections by Rocksteadier and by Microns itself. A pair's latency is the
95th percentile of all calls to a service, the mixture of its containers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.race import mapped
from bench.subsets.cells import PROFILED_AT, SEEDS, with_measured_hosts
from bench.subsets.strategies import MICRONS, learnt, strategy
from sluice.subsets.latency.mixture import percentiles
from sluice.subsets.latency.model import LatencyModel
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import HIGH, LOW, Deployment, deploy
from testbed.mesh.published import rocksteady
from testbed.mesh.run import MeshRun
from testbed.mesh.samples import SETTLE_S, Sample, between, profiled, text

CONTAINERS = 128
MOST_USED = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
COMBINATIONS, WORKLOADS_LEARNT = 3, (0.3, 1.3)
WORKLOADS, LEVELS = (0.6, 0.8, 1.0), {"low": LOW, "high": HIGH}
CONNECTIONS = ("rocksteadier", MICRONS)
WINDOW_S = 60.0
VISITS = 300
"""Of a container, without which its own mu and sigma are not known well enough."""
OTHERS = 4_000
"""Added to a seed: the requests of those that are judged are not those of any other table."""


@dataclass(frozen=True)
class Errors:
    """Of one shape, relative. mu: of e^mu, and sigma, one a container. pairs: of the 95th percentile, one a service."""

    mu: list[float]
    sigma: list[float]
    pairs: list[float]


def learnt_from(shape: str, seed: int) -> str:
    """Latency samples as CSV."""
    samples: list[Sample] = []
    for number, used in enumerate(MOST_USED):
        how = Deployment(CONTAINERS, used, 1.0, PROFILED_AT * seed + number)
        application = deploy(SHAPES[shape], how)
        connected = rocksteady(application, how.seed)
        samples += profiled(application, connected, how.seed, COMBINATIONS, most_used=used, workloads=WORKLOADS_LEARNT)
    return text(samples)


def errors(case: tuple[str, int]) -> dict[tuple[str, str], Errors]:
    """By imbalance and connections, of a shape and a seed."""
    shape, seed = case
    csv = learnt_from(shape, seed)
    by: dict[tuple[str, str], Errors] = {}
    for level, difference in LEVELS.items():
        for connections in CONNECTIONS:
            parts = [
                _judged(shape, Deployment(CONTAINERS, difference, load, seed), csv, connections) for load in WORKLOADS
            ]
            by[level, connections] = Errors(
                *([value for part in parts for value in getattr(part, name)] for name in ("mu", "sigma", "pairs"))
            )
    return by


def _judged(shape: str, how: Deployment, csv: str, connections: str) -> Errors:
    application = deploy(SHAPES[shape], how)
    if connections == MICRONS:
        solution = strategy(MICRONS, csv)(with_measured_hosts(shape, how).public())
    else:
        solution = rocksteady(application, how.seed)
    run = MeshRun(application, solution, how.seed + OTHERS)
    run.until(SETTLE_S)
    before = run.counters()
    run.until(run.now + WINDOW_S)
    seen = between(before, run.counters(), run.fleet)
    services = tuple(sorted(service.name for service in application.services))
    return compared(seen, learnt(csv, services))


def compared(seen: Sequence[Sample], model: LatencyModel) -> Errors:
    """Predicted beside seen."""
    mu: list[float] = []
    sigma: list[float] = []
    pairs: list[float] = []
    for service in sorted({sample.service for sample in seen}):
        of = [sample for sample in seen if sample.service == service]
        rate = np.array([sample.rate_per_s for sample in of])
        true_mu, true_sigma = np.array([[sample.mu, max(sample.sigma, 0.01)] for sample in of]).T
        found_mu, found_sigma = model.of(service).curves(np.array([sample.utilization for sample in of])).at(rate)
        often = np.array([sample.visits >= VISITS for sample in of])
        mu += (np.exp(found_mu - true_mu) - 1)[often].tolist()
        sigma += (found_sigma / true_sigma - 1)[often].tolist()
        one = np.array([0, len(of)])
        true, _ = percentiles(true_mu, true_sigma, rate, one, 0.95)
        found, _ = percentiles(found_mu, found_sigma, rate, one, 0.95)
        pairs.append(float(np.exp(found - true)[0] - 1))
    return Errors(mu, sigma, pairs)


def run(quick: bool) -> str:
    shapes, seeds = (["hotel"], SEEDS[:1]) if quick else (list(SHAPES), SEEDS)
    cases = [(shape, seed) for shape in shapes for seed in seeds]
    return report(cases, list(mapped(errors, cases)))


def report(cases: Sequence[tuple[str, int]], results: Sequence[dict[tuple[str, str], Errors]]) -> str:
    lines = [
        "Mean |predicted / seen - 1| of containers; of pairs the mean of 1 - |predicted / seen - 1|. In brackets",
        "the worst seed. Bars: e^mu 8 %, sigma 13 %, pairs 89 % (low), 87 % (high). The paper: 6.6, 13.6; 88.8, 86.7.",
        "",
        "| application | imbalance | connections | e^mu | sigma | pairs right |",
        "|---|---|---|---|---|---|",
    ]
    for shape in (*dict.fromkeys(shape for shape, _ in cases), "all"):
        for level, connections in results[0]:
            of = [
                result[level, connections]
                for case, result in zip(cases, results, strict=True)
                if shape in (case[0], "all")
            ]
            row = [shape, level, connections, _off(one.mu for one in of), _off(one.sigma for one in of)]
            by_seed = [_right(one.pairs) for one in of]
            lines.append(f"| {' | '.join(row)} | {np.mean(by_seed):.1%} ({min(by_seed):.1%}) |")
    return "\n".join(lines) + "\n"


def _off(errors: Iterable[Sequence[float]]) -> str:
    by_seed = [float(np.abs(one).mean()) for one in errors]
    return f"{np.mean(by_seed):.1%} ({max(by_seed):.1%})"


def _right(pairs: Sequence[float]) -> float:
    """An error of more than 100 % counts as 0."""
    return float(np.maximum(1 - np.abs(pairs), 0).mean())
