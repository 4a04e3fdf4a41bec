"""Which containers of a service are there, from what was seen and told."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.model.containers import Told, ToldContainer
from sluice.subsets.seen import SeenContainer

#: A container that would have had so many requests since its last one, had they gone on, is no more.
SILENT_REQUESTS = 30
#: Windows end so often: a container's rate is over one at least.
WINDOW_S = 10


def present(
    seen: Sequence[SeenContainer], told: Told | None, newest_s: int, gone_s: float
) -> list[tuple[ToldContainer, bool]]:
    """Each with what is known of it, and whether it was seen; ordered by instance.

    Seen ones are there until they are silent for gone_s, and for so long that SILENT_REQUESTS are missing; if all are,
    nobody calls the service, and all are there. What a source told counts more: those that it named, and of others only
    those that were first seen since.
    """
    alive = [each for each in seen if not _silent(each, newest_s, gone_s)] or list(seen)
    by_instance: dict[str, SeenContainer] = {}
    for each in sorted(alive, key=lambda each: each.last_s):
        by_instance[each.instance] = each
    found = {name: (ToldContainer(name, host=each.host), True) for name, each in by_instance.items()}
    if told is not None:
        since = {name: one for name, one in found.items() if by_instance[name].first_s > told.at_s}
        known = {each.instance: (_with_host(each, by_instance), each.instance in found) for each in told.containers}
        found = {**since, **known}
    return [found[name] for name in sorted(found)]


def _silent(container: SeenContainer, newest_s: int, gone_s: float) -> bool:
    silent_s = newest_s - container.last_s
    rate = container.requests / max(container.last_s - container.first_s, WINDOW_S)
    return silent_s > gone_s and silent_s * rate > SILENT_REQUESTS


def _with_host(told: ToldContainer, seen: dict[str, SeenContainer]) -> ToldContainer:
    if told.host or told.instance not in seen:
        return told
    return ToldContainer(told.instance, told.address, seen[told.instance].host, told.zone, told.drained)
