"""Decides which containers of a service are live, from spans and from a container source."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from sluice.model.containers import NotifiedContainer, ReportedContainers
from sluice.subsets.observed import ObservedContainer

#: A container is gone when, at its rate, it missed this many requests since its last one.
SILENT_REQUESTS = 30
#: The length of a window, the least time to take a container's rate over.
WINDOW_S = 10


@dataclass(frozen=True)
class LivenessRules:
    """gone_s: as of `live_containers`. lease_s: how long a source's report has priority over spans. left_out: by
    service, the containers that a report left out and that spans have shown ever since."""

    gone_s: float = 20.0
    lease_s: float = inf
    left_out: Mapping[str, Collection[str]] = field(default_factory=dict)


def live_containers(
    observed: Sequence[ObservedContainer],
    reported: ReportedContainers | None,
    newest_s: int,
    gone_s: float,
    lease_s: float = inf,
    left_out: Collection[str] = (),
) -> list[tuple[NotifiedContainer, bool]]:
    """The live containers, each with whether spans show it; ordered by instance.

    A container in spans is live until it is silent for more than gone_s and misses more than SILENT_REQUESTS. If all
    are silent, nobody calls the service, and all count as live. A source's report has priority for lease_s: then its
    containers are live, and others only if their first span is newer than the report. After that, spans decide, and the
    report only adds addresses, hosts, zones and drains. `left_out` are not live in either case, unless nothing else is.
    """
    alive = [container for container in observed if not _silent(container, newest_s, gone_s)] or list(observed)
    by_instance: dict[str, ObservedContainer] = {}
    for container in sorted(alive, key=lambda container: container.last_s):
        by_instance[container.instance] = container
    by_name = {name: (NotifiedContainer(name, host=container.host), True) for name, container in by_instance.items()}
    if reported is not None:
        known = {
            container.instance: (_with_host(container, by_instance), container.instance in by_name)
            for container in reported.containers
        }
        if newest_s - reported.at_s <= lease_s:
            since = {name: member for name, member in by_name.items() if by_instance[name].first_s > reported.at_s}
            by_name = {**_without(since, left_out), **known}
        else:
            by_name = {name: known.get(name, member) for name, member in by_name.items()} or known
    kept = _without(by_name, () if reported is None else left_out) or by_name
    return [kept[name] for name in sorted(kept)]


def left_out(
    observed: Sequence[ObservedContainer], reported: ReportedContainers | None, previous: Collection[str]
) -> frozenset[str]:
    """The containers of a service that the newest report left out, and that spans still show. previous: containers that
    are known to be older than the report; spans of the newest window alone do not show that."""
    if reported is None:
        return frozenset()
    named = {container.instance for container in reported.containers}
    first_s: dict[str, int] = {}
    for container in observed:
        first_s[container.instance] = min(container.first_s, first_s.get(container.instance, container.first_s))
    return frozenset(
        name for name, at_s in first_s.items() if name not in named and (name in previous or at_s <= reported.at_s)
    )


def _without(
    containers: Mapping[str, tuple[NotifiedContainer, bool]], names: Collection[str]
) -> dict[str, tuple[NotifiedContainer, bool]]:
    return {name: container for name, container in containers.items() if name not in names}


def _silent(container: ObservedContainer, newest_s: int, gone_s: float) -> bool:
    silent_s = newest_s - container.last_s
    rate = container.requests / max(container.last_s - container.first_s, WINDOW_S)
    return silent_s > gone_s and silent_s * rate > SILENT_REQUESTS


def _with_host(container: NotifiedContainer, observed: dict[str, ObservedContainer]) -> NotifiedContainer:
    if container.host or container.instance not in observed:
        return container
    return replace(container, host=observed[container.instance].host)
