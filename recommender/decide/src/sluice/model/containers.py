"""Containers of a service, as a source that knows told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class ToldContainer:
    """What a source that knows told of a container; "" where it did not."""

    instance: str
    address: str = ""
    host: str = ""
    zone: str = ""
    drained: bool = False


@dataclass(frozen=True)
class Told:
    """All containers of a service, as told at at_s (Unix time)."""

    at_s: float
    containers: tuple[ToldContainer, ...]
