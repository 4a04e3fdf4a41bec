"""The input of the solver: hosts, services with their containers, call trees and the limit on connections."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

#: The most connections per upstream container where no quota is set, on average; Alibaba's traces show this number
#: (Microns, 2.3).
USUAL = 4


@dataclass(frozen=True)
class Host:
    """Utilizations are ratios, 0 to 1, over everything that runs on the host."""

    name: str
    cpu: float = 0.0
    memory_bandwidth: float = 0.0
    network: float = 0.0
    zone: str = ""


@dataclass(frozen=True)
class Container:
    """`drained`: the container must get no connections. `capacity_per_s`: the calls per second that it may get from all
    callers together. not_ready: a source says so; the solver ignores it, so two containers that differ in it alone are
    equal."""

    name: str
    host: str
    address: str = ""
    drained: bool = False
    capacity_per_s: float = math.inf
    not_ready: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Service:
    name: str
    containers: tuple[Container, ...]


@dataclass(frozen=True)
class Call:
    """A node of a call tree. Stages run one after the other, the calls of a stage in parallel.

    `calls`: how often this node runs for each call of its parent.
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
    """A pair with a known rate and no call tree. It counts as a stage of its own, after all others."""

    upstream: str
    downstream: str
    rate_per_s: float


@dataclass(frozen=True)
class Application:
    """`quota`: the number of connections over all pairs. None: chosen (`microns.number`), up to USUAL for each upstream
    container of each pair; USUAL without latency samples and for rivals.

    min_subset: the least number of connections of an upstream container, as far as there are that many downstream
    containers. percentile: of the latency that the solver minimizes. keep_in_zone: upstream containers connect only
    within their own zone, where the downstream service has a container in it. prefer_zone: they connect within it as
    far as the loads that the solver aims at allow; not with keep_in_zone.
    """

    hosts: tuple[Host, ...]
    services: tuple[Service, ...]
    roots: tuple[Root, ...] = ()
    pairs: tuple[PairRate, ...] = ()
    quota: int | None = None
    min_subset: int = 2
    percentile: float = 0.95
    keep_in_zone: bool = False
    prefer_zone: bool = False
