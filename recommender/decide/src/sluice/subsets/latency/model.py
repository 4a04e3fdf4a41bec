"""The interface of latency models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sluice.subsets.fleet import Floats
from sluice.subsets.latency.curves import Curves


class ServiceLatency(Protocol):
    """Predicts the latency of one service's containers."""

    @property
    def basis(self) -> str:
        """The kind of the model, for people."""
        ...

    def curves(self, contention: Floats) -> Curves:
        """Curves of containers on hosts with `contention`, (n, 3)."""
        ...


@dataclass(frozen=True)
class LatencyModel:
    """Models by service; `other` is for services without one. `known`: whether latency samples exist at all. Otherwise
    utilizations alone compare containers, and no latency in ms can be predicted."""

    services: Mapping[str, ServiceLatency]
    other: ServiceLatency
    known: bool = True
    notes: tuple[str, ...] = field(default=())

    def of(self, service: str) -> ServiceLatency:
        return self.services.get(service, self.other)
