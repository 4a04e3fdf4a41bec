"""A notification of a hardware autoscaler."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.model.containers import ToldContainer


@dataclass(frozen=True, order=True)
class Scaling:
    """One notification; at_ms: Unix time from which it was in force. None, "" and (): not told by this one."""

    at_ms: int
    service: str
    cpu_limit_cores: float | None
    replicas: int | None
    version: str
    source: str
    containers: tuple[ToldContainer, ...] = ()
