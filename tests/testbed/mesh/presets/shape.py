"""What an application is before it is deployed: its services, and the trees of its operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..application import Call, Nature, calls_of

SENSITIVITY = {
    "front": (0.4, 0.2, 0.4),
    "logic": (0.5, 0.3, 0.2),
    "cache": (0.3, 0.5, 0.2),
    "store": (0.4, 0.4, 0.2),
}
"""By kind of service: how far CPU, memory bandwidth and network slow it. Ours: no such figures are published."""


@dataclass(frozen=True)
class Shape:
    name: str
    natures: Mapping[str, Nature]
    """By service."""
    operations: Mapping[str, tuple[float, Call]]
    """Share of the requests, and the tree."""

    def demand(self) -> dict[str, float]:
        """Seconds of CPU, without contention, by service and request of the mix."""
        result = dict.fromkeys(self.natures, 0.0)
        for share, tree in self.operations.values():
            for service, visits in _visits(tree).items():
                result[service] += share * visits * self.natures[service].work_ms / 1e3
        return result


def to(service: str, *stages: list[Call], calls: float = 1.0) -> Call:
    return Call(service=service, calls=calls, stages=list(stages))


def natures(**kinds: Mapping[str, float]) -> dict[str, Nature]:
    """By kind of service: its services and their mean CPU time, ms."""
    return {
        service: Nature(
            work_ms=work_ms,
            cpu=SENSITIVITY[kind][0],
            memory_bandwidth=SENSITIVITY[kind][1],
            network=SENSITIVITY[kind][2],
        )
        for kind, services in kinds.items()
        for service, work_ms in services.items()
    }


def _visits(tree: Call) -> dict[str, float]:
    """Mean visits by service and request."""
    result = dict.fromkeys((call.service for call in calls_of(tree)), 0.0)

    def add(call: Call, times: float) -> None:
        result[call.service] += times
        for stage in call.stages:
            for below in stage:
                add(below, times * below.calls)

    add(tree, tree.calls)
    return result
