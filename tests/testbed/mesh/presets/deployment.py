"""Containers on hosts: how many of each service, where, and what the hosts' other tenants use.

Eight hosts of 48 cores, containers of 0.1 cores (Microns 7.1). Services have as many containers as a horizontal
autoscaler gives them where they stand (2.3, 7.2.1): the fewest that use TARGET of their limits (30 %: 7.2.2). A
workload of 1.0 is the one at which these make the asked number of containers; ``calibration.NOMINAL`` is the usual one.

**Imbalance.** What others use of the hosts' CPU, memory bandwidth and network lies evenly from 0 to d, each figure then
moved by up to JITTER. Microns calls d <= 30 % low and more high (7.2.1), and has d of 20 to 60 % (3.1, figure 4a): LOW
and HIGH are its ends. Its hosts have no other tenants but those that it starts there, so the least is 0.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .. import calibration
from ..application import Application, Container, Host, Root, Service, Testbed
from .shape import Shape

HOSTS, HOST_CORES = 8, 48.0
JITTER = 0.03
LOW, HIGH = 0.2, 0.6
TARGET = 0.3


@dataclass(frozen=True)
class Deployment:
    containers: int = 512
    difference: float = HIGH
    workload: float = calibration.NOMINAL
    """Of the one that the containers are sized for."""
    seed: int = 1
    """Of placement and hosts."""


def deploy(shape: Shape, how: Deployment) -> Application:
    """Raises ValueError when there are fewer containers than services."""
    rng = random.Random(f"mesh/{shape.name}/{how.seed}")
    hosts = _hosts(how, rng)
    order = {service: rng.sample(hosts, len(hosts)) for service in shape.natures}
    counts, rate = sized(shape, order, how.containers)
    services = []
    number = 0
    for service, count in counts.items():
        containers = []
        for i in range(count):
            number += 1
            address = f"10.{number // 65536}.{number // 256 % 256}.{number % 256}:8080"
            host = order[service][i % len(hosts)].name
            containers.append(Container(name=f"{service}-{i}", host=host, address=address))
        services.append(Service(name=service, containers=containers))
    return Application(
        hosts=hosts,
        services=services,
        roots=[
            Root(name=name, rate_per_s=rate * how.workload * share, tree=tree)
            for name, (share, tree) in shape.operations.items()
        ],
        testbed=Testbed(
            services=dict(shape.natures), others={host.name: host for host in hosts}, host_cores=HOST_CORES
        ),
    )


def sized(shape: Shape, order: Mapping[str, Sequence[Host]], containers: int) -> tuple[dict[str, int], float]:
    """Containers by service, which sum to ``containers``, and requests a second; they take the hosts in their order.

    Where no rate gives exactly so many, the fewer, and the rest to the services that then use most of theirs.
    """
    if containers < len(shape.natures):
        raise ValueError(f"{containers} containers for {len(shape.natures)} services; legal: at least one each")
    sizes = np.arange(1, containers + 1)
    needed: dict[str, np.ndarray] = {}
    for service, seconds in shape.demand().items():
        nature = shape.natures[service]
        weights = np.array([nature.cpu, nature.memory_bandwidth, nature.network])
        slow = [float(calibration.slowdown(np.array(_figures(host)), weights)) for host in order[service]]
        mean = np.cumsum(np.resize(slow, containers)) / sizes
        needed[service] = seconds * mean / nature.cores / sizes  # of the limit, by number of containers, at 1/s

    def at(rate: float) -> dict[str, int]:
        return {service: int(np.argmax(rate * item <= TARGET)) + 1 for service, item in needed.items()}

    def fits(rate: float) -> bool:
        enough = all(rate * item[-1] <= TARGET for item in needed.values())
        return enough and sum(at(rate).values()) <= containers

    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    counts = at(low)
    for _ in range(containers - sum(counts.values())):
        fullest = max(counts, key=lambda service: float(needed[service][counts[service] - 1]))
        counts[fullest] += 1
    return counts, low


def _hosts(how: Deployment, rng: random.Random) -> list[Host]:
    """Which host is the busiest is drawn; without a difference all are the same to the digit."""
    jitter = JITTER if how.difference else 0.0
    levels = [float(level) for level in np.linspace(0.0, how.difference, HOSTS)]

    def near(level: float) -> float:
        return round(min(1.0, max(0.0, level + rng.uniform(-jitter, jitter))), 4)

    return [
        Host(name=f"host-{i}", cpu=near(level), memory_bandwidth=near(level), network=near(level))
        for i, level in enumerate(rng.sample(levels, HOSTS))
    ]


def _figures(host: Host) -> tuple[float, float, float]:
    return host.cpu, host.memory_bandwidth, host.network
