"""Kubernetes' horizontal autoscaler on every service of a mesh: new containers on the emptiest hosts, ready later."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..autoscale import HorizontalScaler
from .calibration import Floats
from .fleet import Fleet

READY_S = 15.0
"""Until a new container takes requests."""


@dataclass(frozen=True)
class Coming:
    ready_s: float
    name: str
    service: str
    host: str


class Autoscaler:
    def __init__(self, fleet: Fleet, target: float, most: int) -> None:
        """``target``: utilization of CPU limits; ``most``: containers of a service."""
        self._fleet = fleet
        self._scalers = [HorizontalScaler(highest=most, target=target) for _ in fleet.services]
        self._coming: list[Coming] = []
        self._made = [len(live) for live in fleet.live]

    def scale(self, now_s: float, used_core_s: Floats, seconds: float) -> bool:
        """Looks at what each container used in the last ``seconds``; whether containers came or went. The newest go."""
        fleet = self._fleet
        ready = [one for one in self._coming if one.ready_s <= now_s]
        self._coming = [one for one in self._coming if one.ready_s > now_s]
        changed = bool(ready)
        for i, service in enumerate(fleet.services):
            live = list(fleet.live[i])
            now = len(live) + sum(one.service == service for one in [*ready, *self._coming])
            utilization = float(used_core_s[live].sum() / (fleet.cores[live].sum() * seconds))
            wanted = self._scalers[i].decide(now_s, now, utilization)
            for _ in range(wanted - now):
                name = f"{service}-{self._made[i]}"
                self._made[i] += 1
                self._coming.append(Coming(now_s + READY_S, name, service, self._emptiest(service, ready)))
            for _ in range(min(now - wanted, len(live) - 1)):
                fleet.remove(fleet.names[fleet.live[i][-1]])
                changed = True
        for one in ready:
            fleet.add(one.name, one.service, one.host)
        return changed

    def _emptiest(self, service: str, ready: list[Coming]) -> str:
        """The host with the fewest containers of the service, of those the one with the fewest at all."""
        fleet = self._fleet
        standing = [(fleet.services[i], fleet.hosts[fleet.host[c]]) for i, live in enumerate(fleet.live) for c in live]
        standing += [(one.service, one.host) for one in [*ready, *self._coming]]
        of, at_all = Counter(host for each, host in standing if each == service), Counter(host for _, host in standing)
        return min(fleet.hosts, key=lambda host: (of[host], at_all[host]))
