"""Validates an application. Each problem names the field, its value and the legal values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from sluice.subsets.application import Application, Call, Root, Service
from sluice.subsets.calls import edges

#: The most levels of a call tree. A deeper one is a recorded loop.
DEEPEST = 200


class IllegalSubsetsError(ValueError):
    """A line for each problem: the field, its value, the legal values."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def check(application: Application) -> None:
    """Validates an application.

    Raises:
        IllegalError: the application is not legal; the message has all problems.
    """
    problems = [*_hosts(application), *_services(application)]
    roots = [*_roots(application)]
    problems += roots
    if not roots:
        problems += [*_graph(application)]
    problems += _limits(application)
    if problems:
        raise IllegalSubsetsError(problems)


def _hosts(application: Application) -> Iterator[str]:
    yield from _twice("hosts", (host.name for host in application.hosts))
    for host in application.hosts:
        for field in ("cpu", "memory_bandwidth", "network"):
            value = getattr(host, field)
            if not 0 <= value <= 1:
                yield f"hosts {host.name!r}: {field} {_shown(value)} is not legal; legal: 0 to 1"


def _services(application: Application) -> Iterator[str]:
    yield from _twice("services", (service.name for service in application.services))
    hosts = {host.name for host in application.hosts}
    owners: dict[str, str] = {}
    for service in application.services:
        yield from _twice(
            f"services {service.name!r}: containers", (container.name for container in service.containers)
        )
        for container in service.containers:
            where = f"services {service.name!r}: containers {container.name!r}"
            if container.host not in hosts:
                yield f"{where}: host {container.host!r} is not known; legal: a name in hosts"
            if not container.capacity_per_s > 0:
                yield f"{where}: capacity_per_s {_shown(container.capacity_per_s)} is not legal; legal: above 0"
            if container.address:
                owner = owners.setdefault(container.address, f"{service.name}/{container.name}")
                if owner != f"{service.name}/{container.name}":
                    yield f"{where}: address {container.address!r} belongs to {owner} too; legal: a unique address"


def _roots(application: Application) -> Iterator[str]:
    names = {service.name for service in application.services}
    if not application.roots and not application.pairs:
        yield "roots: missing; legal: at least one, or pairs"
    yield from _twice("roots", (root.name for root in application.roots))
    for root in application.roots:
        if not 0 < root.rate_per_s < math.inf:
            yield f"roots {root.name!r}: rate_per_s {_shown(root.rate_per_s)} is not legal; legal: above 0"
        yield from _tree(root, names)
    for pair in application.pairs:
        where = f"pairs {pair.upstream} -> {pair.downstream}"
        if not 0 < pair.rate_per_s < math.inf:
            yield f"{where}: rate_per_s {_shown(pair.rate_per_s)} is not legal; legal: above 0"
        for name in (pair.upstream, pair.downstream):
            if name not in names:
                yield f"{where}: service {name!r} is not known; legal: a name in services"


def _tree(root: Root, names: set[str]) -> Iterator[str]:
    unknown: dict[str, None] = {}
    below: list[tuple[Call, int]] = [(root.tree, 1)]
    while below:
        call, depth = below.pop()
        if depth > DEEPEST:
            yield f"roots {root.name!r}: the tree is deeper than {DEEPEST} calls; legal: up to {DEEPEST}"
            return
        if call.service not in names:
            unknown[call.service] = None
        if not 0 < call.calls < math.inf:
            yield f"roots {root.name!r}: calls {_shown(call.calls)} of {call.service!r} is not legal; legal: above 0"
        below += [(callee, depth + 1) for stage in call.stages for callee in stage]
    for name in unknown:
        yield f"roots {root.name!r}: service {name!r} is not known; legal: a name in services"


def _graph(application: Application) -> Iterator[str]:
    called_pairs = sorted({(up, down) for up, down, _ in edges(application) if up != down})
    if not called_pairs:
        yield "roots: no service calls another; legal: at least one pair"
    services = {service.name: service for service in application.services}
    for name in sorted({name for edge in called_pairs for name in edge}):
        if name in services and not _available(services[name]):
            which = "has no containers" if not services[name].containers else "has only drained containers"
            pairs = ", ".join(f"{up} -> {down}" for up, down in called_pairs if name in (up, down))
            yield f"services {name!r} {which}, so {pairs} cannot be connected; legal: at least one"


def _available(service: Service) -> bool:
    return any(not container.drained for container in service.containers)


def _limits(application: Application) -> Iterator[str]:
    if application.quota is not None and application.quota < 1:
        yield f"quota {application.quota} is not legal; legal: 1 or more"
    if application.keep_in_zone and application.prefer_zone:
        yield "prefer_zone is not legal with keep_in_zone; legal: one of them"
    if application.min_subset < 1:
        yield f"min_subset {application.min_subset} is not legal; legal: 1 or more"
    if not 0 < application.percentile < 1:
        yield f"percentile {_shown(application.percentile)} is not legal; legal: between 0 and 1, such as 0.95"


def _twice(where: str, names: Iterable[str]) -> Iterator[str]:
    names_so_far: set[str] = set()
    for name in names:
        if not name:
            yield f"{where}: name is empty; legal: a name"
        elif name in names_so_far:
            yield f"{where}: name {name!r} occurs twice; legal: a unique name"
        names_so_far.add(name)


def _shown(value: float) -> str:
    return f"{value:g}"
