"""What predicts latencies, whatever it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sluice.subsets.fleet import Floats
from sluice.subsets.latency.curves import Curves


class ServiceLatency(Protocol):
    """Of the containers of one service."""

    @property
    def basis(self) -> str:
        """What it rests on, for people."""
        ...

    def curves(self, contention: Floats) -> Curves:
        """Of containers on hosts with `contention`, (n, 3)."""
        ...


@dataclass(frozen=True)
class LatencyModel:
    """By service; `other` is for those that nothing is known of. `known`: whether there are latencies at all, or only
    utilizations, by which containers can be compared and nothing be predicted in ms."""

    services: Mapping[str, ServiceLatency]
    other: ServiceLatency
    known: bool = True
    notes: tuple[str, ...] = field(default=())

    def of(self, service: str) -> ServiceLatency:
        return self.services.get(service, self.other)
