"""Membership: the live containers of each service, from spans and from container sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sluice.model.containers import NotifiedContainer, ReportedContainers
from sluice.subsets.liveness import LivenessRules, left_out, live_containers
from sluice.subsets.observed import ObservedApplication, ObservedContainer

#: The host of a container whose spans and source name none.
NOWHERE = "host of {}"

LiveContainers = dict[str, list[tuple[NotifiedContainer, bool]]]

Address = Callable[[str, str, str], str]
"""The address for a service, instance and host where no source reports one; empty where no rule gives one."""


@dataclass(frozen=True)
class Member:
    """A container of a service. address, zone: "" where no source reports one. drained: its callers must leave it.
    not_ready: its source says so; it keeps its connections."""

    instance: str
    address: str = ""
    zone: str = ""
    drained: bool = False
    not_ready: bool = False


Members = Mapping[str, tuple[Member, ...]]
"""By service, ordered by instance. Nothing is known about a service that is not in it."""


LeftOut = Mapping[str, frozenset[str]]
"""By service, as of `liveness.left_out`; no service without any."""


def members(
    observed: ObservedApplication, reported: Mapping[str, ReportedContainers], address: Address, rules: LivenessRules
) -> Members:
    """The live containers of all services that spans or a source name."""
    there = containers(observed, reported, rules)
    zones = zones_of(container for those in there.values() for container, _ in those)
    return {
        service: tuple(
            Member(
                container.instance,
                container.address or address(service, container.instance, container.host),
                zones[host_of(container)],
                container.drained,
                container.not_ready,
            )
            for container, _ in those
        )
        for service, those in there.items()
    }


def newer(reported: Mapping[str, ReportedContainers], since: Mapping[str, float]) -> dict[str, ReportedContainers]:
    """The reports that are newer than `since` (Unix time, by service), the time when its containers were determined.
    Without new spans, an older report does not know the containers that came since."""
    return {service: report for service, report in reported.items() if report.at_s > since.get(service, -1.0)}


def containers(
    observed: ObservedApplication, reported: Mapping[str, ReportedContainers], rules: LivenessRules
) -> LiveContainers:
    """By service, the live containers, each with whether spans show it."""
    by_name = {
        name: live_containers(
            spans_of, reported.get(name), observed.newest_s, rules.gone_s, rules.lease_s, rules.left_out.get(name, ())
        )
        for name, spans_of in _by_service(observed, reported).items()
    }
    return {name: listed for name, listed in by_name.items() if listed}


def left_out_of(
    observed: ObservedApplication, reported: Mapping[str, ReportedContainers], previous: LeftOut
) -> LeftOut:
    """The containers that the newest reports left out, as of `liveness.left_out`."""
    by_name = {
        name: left_out(spans_of, reported.get(name), previous.get(name, ()))
        for name, spans_of in _by_service(observed, reported).items()
    }
    return {name: instances for name, instances in by_name.items() if instances}


def left_out_unseen(reported: Mapping[str, ReportedContainers], previous: LeftOut) -> LeftOut:
    """The same while spans are not read: those of `previous` that the newest reports do not name."""
    by_name = {
        name: instances.difference(container.instance for container in reported[name].containers)
        if name in reported
        else instances
        for name, instances in previous.items()
    }
    return {name: instances for name, instances in by_name.items() if instances}


def _by_service(
    observed: ObservedApplication, reported: Mapping[str, ReportedContainers]
) -> dict[str, list[ObservedContainer]]:
    by_service: dict[str, list[ObservedContainer]] = {name: [] for name in reported}
    for container in observed.containers:
        if container.instance:
            by_service.setdefault(container.service, []).append(container)
    return by_service


def zones_of(those: Iterable[NotifiedContainer]) -> dict[str, str]:
    """The zone of each host; "" where no source names one for any of its containers."""
    zones: dict[str, str] = {}
    for container in those:
        name = host_of(container)
        zones[name] = container.zone or zones.get(name, "")
    return zones


def host_of(container: NotifiedContainer) -> str:
    return container.host or NOWHERE.format(container.instance)
