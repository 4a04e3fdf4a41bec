"""Containers of a service, as scaling notifications name them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class NotifiedContainer:
    """A container in a notification; "" for fields that the notification lacks."""

    instance: str
    address: str = ""
    host: str = ""
    zone: str = ""
    drained: bool = False
    not_ready: bool = False


@dataclass(frozen=True)
class ReportedContainers:
    """All containers of a service, in the notification at at_s (Unix time)."""

    at_s: float
    containers: tuple[NotifiedContainer, ...]
