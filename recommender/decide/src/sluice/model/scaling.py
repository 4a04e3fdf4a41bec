"""Notifications of a hardware autoscaler."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.model.containers import NotifiedContainer


@dataclass(frozen=True, order=True)
class Scaling:
    """One notification. at_ms: Unix time from which it is in force. None, "" and (): not in this notification."""

    at_ms: int
    service: str
    cpu_limit_cores: float | None
    replicas: int | None
    version: str
    source: str
    containers: tuple[NotifiedContainer, ...] = ()
