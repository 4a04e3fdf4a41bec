"""Membership: the present containers of each service, from spans and from container sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sluice.model.containers import NotifiedContainer, ReportedContainers
from sluice.subsets.observed import ObservedApplication, SeenContainer
from sluice.subsets.present import present

#: The host of a container whose spans and source name none.
NOWHERE = "host of {}"

Present = dict[str, list[tuple[NotifiedContainer, bool]]]

Address = Callable[[str, str, str], str]
"""The address for a service, instance and host where no source reports one; empty where no rule gives one."""


@dataclass(frozen=True)
class Member:
    """A container of a service. address, zone: "" where no source reports one. drained: its callers must leave it."""

    instance: str
    address: str = ""
    zone: str = ""
    drained: bool = False


Members = Mapping[str, tuple[Member, ...]]
"""By service, ordered by instance. Nothing is known about a service that is not in it."""


def members(
    seen: ObservedApplication, told: Mapping[str, ReportedContainers], address: Address, gone_s: float
) -> Members:
    """The present containers of all services that spans or a source name. `gone_s` as of `present`."""
    there = containers(seen, told, gone_s)
    zones = zones_of(each for those in there.values() for each, _ in those)
    return {
        service: tuple(
            Member(
                each.instance,
                each.address or address(service, each.instance, each.host),
                zones[host_of(each)],
                each.drained,
            )
            for each, _ in those
        )
        for service, those in there.items()
    }


def newer(told: Mapping[str, ReportedContainers], since: Mapping[str, float]) -> dict[str, ReportedContainers]:
    """The reports that are newer than `since` (Unix time, by service), the time when its containers were determined.
    Without new spans, an older report does not know the containers that came since."""
    return {service: each for service, each in told.items() if each.at_s > since.get(service, -1.0)}


def containers(seen: ObservedApplication, told: Mapping[str, ReportedContainers], gone_s: float) -> Present:
    """By service, the present containers, each with whether spans show it."""
    by_service: dict[str, list[SeenContainer]] = {name: [] for name in told}
    for each in seen.containers:
        if each.instance:
            by_service.setdefault(each.service, []).append(each)
    found = {name: present(each, told.get(name), seen.newest_s, gone_s) for name, each in by_service.items()}
    return {name: each for name, each in found.items() if each}


def zones_of(those: Iterable[NotifiedContainer]) -> dict[str, str]:
    """The zone of each host; "" where no source names one for any of its containers."""
    zones: dict[str, str] = {}
    for each in those:
        name = host_of(each)
        zones[name] = each.zone or zones.get(name, "")
    return zones


def host_of(container: NotifiedContainer) -> str:
    return container.host or NOWHERE.format(container.instance)
