"""Social Network with something to tune: what may be set in each service, and what it does to the testbed's
application.

The application is the testbed's mesh (`testbed/mesh`): processor sharing, calls through trees, hosts of 24 cores. The
paper publishes neither its parameters' ranges nor what each does, so the laws are ours, after products' documentation.
They leave the default less to gain than the paper's 25 %: 6 to 7 % in the median of what 100 trials find
(results/tuning-methods.md), more where chance put many services on one host, which in four of 100 seeds does not hold
the load. What may be compared is
methods with each other, and reduced spaces with the whole.

    threads      of a service with c cores: its capacity is c (1 + u(n) / u(n*)) / 2, u(n) = n / (1 + a (n - 1) + b n (n
    - 1)):
                 few threads leave cores idle, many contend. n*, 2 to 12 a core, differs by service and seed
    nonblocking  saves 6 % of a visit's work
    memory_mb    of a memcached, 64 by default: reads miss with 0.05 + 0.35 (64 / MB)^0.5, and each miss calls the store
    executor     of a MongoDB: adaptive saves 10 %; tickets: as threads; cache_gb: work x (0.85 + 0.15 / GB)
    appendfsync  of a Redis: always costs 60 %, no saves 5 %; io_threads: as threads
    workers      of nginx: as threads, and no more cores than workers
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from sluice.tuning.space import Boolean, Category, Configuration, Float, Integer, Parameter, Space
from testbed.mesh.application import Application, Call, Container, Host, Nature, Root, Service, Testbed
from testbed.mesh.presets.social_network import MISS, SOCIAL_NETWORK
from testbed.mesh.solution import Connection, Pair, Solution

RATE_PER_S = 2_000.0
# Of each service's cores, with the best settings.
UTILIZATION = 0.3
HOSTS, HOST_CORES = 4, 24.0

STORES = {
    "post-storage-mongodb": "post-storage-memcached",
    "url-shorten-mongodb": "url-shorten-memcached",
    "media-mongodb": "media-memcached",
    "user-mongodb": "user-memcached",
}
FRONT = ("nginx", "media-frontend")


def space() -> Space:
    parameters: list[Parameter] = []
    for service in SOCIAL_NETWORK.natures:
        parameters += _parameters(service)
    return Space(tuple(parameters))


def _parameters(service: str) -> list[Parameter]:
    def threads(name: str, default: int, most: int) -> Parameter:
        return Parameter(f"{service}.{name}", Integer(1, most, log=True), default, service)

    if service in FRONT:
        return [threads("workers", 4, 32), Parameter(f"{service}.keepalive", Boolean(), False, service)]
    if service.endswith("-memcached"):
        memory = Parameter(f"{service}.memory_mb", Float(16.0, 8192.0, log=True), 64.0, service)
        return [memory, threads("threads", 4, 64)]
    if service.endswith("-redis"):
        sync = Category(("everysec", "always", "no"))
        return [Parameter(f"{service}.appendfsync", sync, "everysec", service), threads("io_threads", 2, 16)]
    if service.endswith("-mongodb"):
        executor = Category(("synchronous", "adaptive"))
        return [
            Parameter(f"{service}.executor", executor, "synchronous", service),
            Parameter(f"{service}.cache_gb", Float(0.25, 16.0, log=True), 1.0, service),
            threads("tickets", 16, 256),
        ]
    return [threads("threads", 10, 128), Parameter(f"{service}.nonblocking", Boolean(), False, service)]


@dataclass(frozen=True)
class Laws:
    """What differs by seed: the best number of threads a core, by service, and where services stand."""

    best: Mapping[str, float]
    hosts: Mapping[str, str]

    @staticmethod
    def drawn(seed: int) -> Laws:
        rng = random.Random(f"tuning/{seed}")
        names = [f"host-{index}" for index in range(HOSTS)]
        return Laws(
            {service: rng.uniform(2.0, 12.0) for service in SOCIAL_NETWORK.natures},
            {service: rng.choice(names) for service in SOCIAL_NETWORK.natures},
        )


def applied(configuration: Configuration, laws: Laws) -> tuple[Application, Solution]:
    """The application with these settings, a container a service, and the connections between them."""
    demand = SOCIAL_NETWORK.demand()
    natures = {}
    for service, nature in SOCIAL_NETWORK.natures.items():
        cores = max(1.0, demand[service] * RATE_PER_S / UTILIZATION)
        capacity, work = _effect(service, cores, configuration, laws.best[service])
        natures[service] = nature.model_copy(update={"cores": cores * capacity, "work_ms": nature.work_ms * work})
    misses = {store: _misses(float(configuration[f"{cache}.memory_mb"])) for store, cache in STORES.items()}
    roots = [
        Root(name=name, rate_per_s=RATE_PER_S * share, tree=_missing(tree, misses))
        for name, (share, tree) in SOCIAL_NETWORK.operations.items()
    ]
    hosts = [Host(name=f"host-{index}") for index in range(HOSTS)]
    services = [
        Service(name=service, containers=[Container(name=f"{service}-0", host=laws.hosts[service])])
        for service in natures
    ]
    others = {host.name: host for host in hosts}
    testbed = Testbed(services=natures, others=others, host_cores=HOST_CORES)
    application = Application(hosts=hosts, services=services, roots=roots, testbed=testbed)
    return application, _connected(application)


def _effect(service: str, cores: float, configuration: Configuration, best: float) -> tuple[float, float]:
    """Capacity as a share of the cores, and work as a share of that by default."""

    def get(name: str) -> object:
        return configuration[f"{service}.{name}"]

    work = 1.0
    if service in FRONT:
        count = int(str(get("workers")))
        return min(_capacity(count, best * cores / 4), (1 + count / cores) / 2), 0.9 if get("keepalive") else 1.0
    if service.endswith("-memcached"):
        return _capacity(int(str(get("threads"))), best * cores), work
    if service.endswith("-redis"):
        work = {"everysec": 1.0, "always": 1.6, "no": 0.95}[str(get("appendfsync"))]
        return _capacity(int(str(get("io_threads"))), max(1.0, best * cores / 4)), work
    if service.endswith("-mongodb"):
        work = (0.85 + 0.15 / float(str(get("cache_gb")))) * (0.9 if get("executor") == "adaptive" else 1.0)
        return _capacity(int(str(get("tickets"))), best * cores), work
    return _capacity(int(str(get("threads"))), best * cores), 0.94 if get("nonblocking") else 1.0


def _capacity(count: int, best: float) -> float:
    """1 at the best count, over 0.5 at any. a = 0.05, b such that u has its top at n*."""
    contention = 0.05
    crosstalk = (1 - contention) / max(best, 1.0) ** 2

    def rate(n: float) -> float:
        return n / (1 + contention * (n - 1) + crosstalk * n * (n - 1))

    return (1 + rate(count) / rate(max(best, 1.0))) / 2


def _misses(memory_mb: float) -> float:
    return min(0.05 + 0.35 * (64.0 / memory_mb) ** 0.5, 0.9)


def _missing(tree: Call, misses: Mapping[str, float]) -> Call:
    """The tree with the shares of reads that miss their cache, where the preset has its own."""
    calls = misses.get(tree.service, tree.calls) if tree.calls == MISS else tree.calls
    stages = [[_missing(call, misses) for call in stage] for stage in tree.stages]
    return tree.model_copy(update={"calls": calls, "stages": stages})


def _connected(application: Application) -> Solution:
    """One connection a pair: there is a container a service."""
    pairs: set[tuple[str, str]] = set()

    def below(call: Call) -> None:
        for stage in call.stages:
            for each in stage:
                pairs.add((call.service, each.service))
                below(each)

    for root in application.roots:
        below(root.tree)
    return Solution(
        pairs=[
            Pair(upstream=up, downstream=down, connections=[Connection(**{"from": f"{up}-0"}, to=f"{down}-0")])
            for up, down in sorted(pairs)
        ]
    )


def paths(application: Application) -> dict[str, tuple[float, float, float]]:
    """By service: share of requests with it on their critical path, its own time there (ms), and variation of its time.

    At the means, without queues: of calls at the same time the longest is waited for.
    """
    total = sum(root.rate_per_s for root in application.roots)
    own: dict[str, float] = {}
    share: dict[str, float] = {}

    def length(call: Call) -> float:
        nature = application.nature(call.service)
        inside = sum(max(length(each) for each in stage) for stage in call.stages)
        return min(call.calls, 1.0) * (_alone(nature) + inside)

    def walk(call: Call, weight: float) -> None:
        share[call.service] = min(1.0, share.get(call.service, 0.0) + weight)
        own[call.service] = own.get(call.service, 0.0) + weight * _alone(application.nature(call.service))
        for stage in call.stages:
            longest = max(stage, key=length)
            walk(longest, weight * min(longest.calls, 1.0))

    for root in application.roots:
        walk(root.tree, root.rate_per_s / total)
    return {
        service: (share[service], own[service] / share[service], application.nature(service).cv) for service in share
    }


def _alone(nature: Nature) -> float:
    return nature.work_ms / min(nature.cores, 1.0)
