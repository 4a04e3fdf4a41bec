"""Decides which containers of a service are live, from spans and from a container source."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.model.containers import NotifiedContainer, ReportedContainers
from sluice.subsets.observed import ObservedContainer

#: A container is gone when, at its rate, it missed this many requests since its last one.
SILENT_REQUESTS = 30
#: The length of a window, the least time to take a container's rate over.
WINDOW_S = 10


def live_containers(
    observed: Sequence[ObservedContainer], reported: ReportedContainers | None, newest_s: int, gone_s: float
) -> list[tuple[NotifiedContainer, bool]]:
    """The live containers, each with whether spans show it; ordered by instance.

    A container in spans is live until it is silent for more than gone_s and misses more than SILENT_REQUESTS. If all
    are silent, nobody calls the service, and all count as live. A source's report has priority: then its containers
    are live, and others only if their first span is newer than the report.
    """
    alive = [container for container in observed if not _silent(container, newest_s, gone_s)] or list(observed)
    by_instance: dict[str, ObservedContainer] = {}
    for container in sorted(alive, key=lambda container: container.last_s):
        by_instance[container.instance] = container
    by_name = {name: (NotifiedContainer(name, host=container.host), True) for name, container in by_instance.items()}
    if reported is not None:
        since = {name: member for name, member in by_name.items() if by_instance[name].first_s > reported.at_s}
        known = {
            container.instance: (_with_host(container, by_instance), container.instance in by_name)
            for container in reported.containers
        }
        by_name = {**since, **known}
    return [by_name[name] for name in sorted(by_name)]


def _silent(container: ObservedContainer, newest_s: int, gone_s: float) -> bool:
    silent_s = newest_s - container.last_s
    rate = container.requests / max(container.last_s - container.first_s, WINDOW_S)
    return silent_s > gone_s and silent_s * rate > SILENT_REQUESTS


def _with_host(container: NotifiedContainer, observed: dict[str, ObservedContainer]) -> NotifiedContainer:
    if container.host or container.instance not in observed:
        return container
    return NotifiedContainer(
        container.instance, container.address, observed[container.instance].host, container.zone, container.drained
    )
