"""Who is there of each service, whatever is known besides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sluice.model.containers import Told, ToldContainer
from sluice.subsets.present import present
from sluice.subsets.seen import Seen, SeenContainer

#: Where a container runs whose spans and source name no host.
NOWHERE = "host of {}"

Present = dict[str, list[tuple[ToldContainer, bool]]]

Address = Callable[[str, str, str], str]
"""Of a container by service, instance and host, where nobody told it; empty where nothing says."""


@dataclass(frozen=True)
class Member:
    """A container of a service, as it is to be reached; "" where nobody told it. drained: it is to be left."""

    instance: str
    address: str = ""
    zone: str = ""
    drained: bool = False


Members = Mapping[str, tuple[Member, ...]]
"""By service, ordered by instance. A service that is not in it, nothing is known of."""


def members(seen: Seen, told: Mapping[str, Told], address: Address, gone_s: float) -> Members:
    """Of all services that were seen or told; `gone_s` as of `present`."""
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


def newer(told: Mapping[str, Told], since: Mapping[str, float]) -> dict[str, Told]:
    """What was told after what is known of a service was found, by `since` (Unix time), where nothing is seen: older
    words do not know who came since."""
    return {service: each for service, each in told.items() if each.at_s > since.get(service, -1.0)}


def containers(seen: Seen, told: Mapping[str, Told], gone_s: float) -> Present:
    """By service those that are there, and whether each was seen."""
    by_service: dict[str, list[SeenContainer]] = {name: [] for name in told}
    for each in seen.containers:
        if each.instance:
            by_service.setdefault(each.service, []).append(each)
    found = {name: present(each, told.get(name), seen.newest_s, gone_s) for name, each in by_service.items()}
    return {name: each for name, each in found.items() if each}


def zones_of(those: Iterable[ToldContainer]) -> dict[str, str]:
    """By host its zone; "" where none of its containers' sources named one."""
    zones: dict[str, str] = {}
    for each in those:
        name = host_of(each)
        zones[name] = each.zone or zones.get(name, "")
    return zones


def host_of(container: ToldContainer) -> str:
    return container.host or NOWHERE.format(container.instance)
