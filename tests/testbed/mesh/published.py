"""The strategies of the experiments that the calibration rests on (Microns 2.3, 3.1), which are no part of Sluice."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from .application import Application, Container, Host
from .graph import flatten
from .solution import Connection, Pair, Solution

PER_UPSTREAM = 4
"""Connections: section 2.3."""

Sets = Callable[[Sequence[Container], Sequence[Container], random.Random], list[Sequence[Container]]]


def fully_connected(application: Application, seed: int = 0) -> Solution:
    return _solved("fully connected", application, seed, lambda up, down, rng: [down for _ in up])


def rocksteady(application: Application, seed: int = 0) -> Solution:
    """ "Randomly partitions downstream containers into equally sized subsets and assigns them" (2.3): the SRE book's.

    Each round of upstream containers shares out a shuffle of the downstream ones; what does not fill a subset is left
    out in that round.
    """

    def sets(up: Sequence[Container], down: Sequence[Container], rng: random.Random) -> list[Sequence[Container]]:
        size = min(PER_UPSTREAM, len(down))
        subsets: list[Sequence[Container]] = []
        while len(subsets) < len(up):
            shuffled = rng.sample(down, len(down))
            subsets += [shuffled[i : i + size] for i in range(0, len(down) - size + 1, size)]
        return subsets[: len(up)]

    return _solved("rocksteady", application, seed, sets)


def contention_aware(application: Application, seed: int = 0) -> Solution:
    """As many connections, but each downstream container's share of them follows what its host has left (3.1)."""
    hosts = {host.name: _left(host) for host in application.hosts}

    def sets(up: Sequence[Container], down: Sequence[Container], rng: random.Random) -> list[Sequence[Container]]:
        size = min(PER_UPSTREAM, len(down))
        total = sum(hosts[container.host] for container in down)
        due = {container.name: hosts[container.host] / total * size * len(up) for container in down}
        subsets: list[Sequence[Container]] = []
        for _ in up:
            shuffled = rng.sample(down, len(down))
            chosen = sorted(shuffled, key=lambda container: -due[container.name])[:size]
            for container in chosen:
                due[container.name] -= 1.0
            subsets.append(chosen)
        return subsets

    return _solved("contention aware", application, seed, sets)


def _left(host: Host) -> float:
    return 1.0 - (host.cpu + host.memory_bandwidth + host.network) / 3.0


def _solved(strategy: str, application: Application, seed: int, sets: Sets) -> Solution:
    services = application.services
    pairs = []
    for upstream, downstream in flatten(application).pairs:
        up, down = services[upstream].containers, services[downstream].containers
        rng = random.Random(f"{strategy}/{seed}/{services[upstream].name}/{services[downstream].name}")
        connections = [
            Connection.model_validate({"from": one.name, "to": other.name})
            for one, subset in zip(up, sets(up, down, rng), strict=True)
            for other in subset
        ]
        pairs.append(
            Pair(upstream=services[upstream].name, downstream=services[downstream].name, connections=connections)
        )
    return Solution(strategy=strategy, pairs=pairs)
