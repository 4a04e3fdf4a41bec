"""Decides which containers of a service are present, from spans and from a container source."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.model.containers import NotifiedContainer, ReportedContainers
from sluice.subsets.observed import SeenContainer

#: A container is gone when, at its rate, it missed this many requests since its last one.
SILENT_REQUESTS = 30
#: The length of a window, the least time to take a container's rate over.
WINDOW_S = 10


def present(
    seen: Sequence[SeenContainer], told: ReportedContainers | None, newest_s: int, gone_s: float
) -> list[tuple[NotifiedContainer, bool]]:
    """The present containers, each with whether spans show it; ordered by instance.

    A container in spans is present until it is silent for more than gone_s and misses more than SILENT_REQUESTS. If all
    are silent, nobody calls the service, and all count as present. A source's report has priority: then its containers
    are present, and others only if their first span is newer than the report.
    """
    alive = [each for each in seen if not _silent(each, newest_s, gone_s)] or list(seen)
    by_instance: dict[str, SeenContainer] = {}
    for each in sorted(alive, key=lambda each: each.last_s):
        by_instance[each.instance] = each
    found = {name: (NotifiedContainer(name, host=each.host), True) for name, each in by_instance.items()}
    if told is not None:
        since = {name: one for name, one in found.items() if by_instance[name].first_s > told.at_s}
        known = {each.instance: (_with_host(each, by_instance), each.instance in found) for each in told.containers}
        found = {**since, **known}
    return [found[name] for name in sorted(found)]


def _silent(container: SeenContainer, newest_s: int, gone_s: float) -> bool:
    silent_s = newest_s - container.last_s
    rate = container.requests / max(container.last_s - container.first_s, WINDOW_S)
    return silent_s > gone_s and silent_s * rate > SILENT_REQUESTS


def _with_host(told: NotifiedContainer, seen: dict[str, SeenContainer]) -> NotifiedContainer:
    if told.host or told.instance not in seen:
        return told
    return NotifiedContainer(told.instance, told.address, seen[told.instance].host, told.zone, told.drained)
