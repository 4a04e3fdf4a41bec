"""What subsets are made for: hosts, services with their containers, call trees, and how many connections there may
be."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Connections for each upstream container where no quota is named: what Alibaba's traces show (Microns, 2.3).
USUAL = 4


@dataclass(frozen=True)
class Host:
    """Utilizations are ratios, 0 to 1, of everything that runs on it."""

    name: str
    cpu: float = 0.0
    memory_bandwidth: float = 0.0
    network: float = 0.0
    zone: str = ""


@dataclass(frozen=True)
class Container:
    """`drained`: it is to get no connections. `capacity_per_s`: calls that it may get from all who call it."""

    name: str
    host: str
    address: str = ""
    drained: bool = False
    capacity_per_s: float = math.inf


@dataclass(frozen=True)
class Service:
    name: str
    containers: tuple[Container, ...]


@dataclass(frozen=True)
class Call:
    """A node of a call tree. Stages run one after the other, the calls of a stage in parallel.

    `calls`: how often it is called for each call of the node above.
    """

    service: str
    stages: tuple[tuple[Call, ...], ...] = ()
    calls: float = 1.0


@dataclass(frozen=True)
class Root:
    """An operation that users call `rate_per_s` times a second. Its first service is called from outside."""

    name: str
    rate_per_s: float
    tree: Call


@dataclass(frozen=True)
class PairRate:
    """A pair of which only the rate is known, and no tree: it counts as a stage of its own, after all others."""

    upstream: str
    downstream: str
    rate_per_s: float


@dataclass(frozen=True)
class Application:
    """`quota`: connections over all pairs; None: USUAL for each upstream container of each pair.

    min_subset: the least number of connections of an upstream container, where there are so many containers.
    percentile: of latency, that is made small. keep_in_zone: upstream containers connect within their own zone only,
    where the downstream service has a container in it.
    """

    hosts: tuple[Host, ...]
    services: tuple[Service, ...]
    roots: tuple[Root, ...] = ()
    pairs: tuple[PairRate, ...] = ()
    quota: int | None = None
    min_subset: int = 2
    percentile: float = 0.95
    keep_in_zone: bool = False
