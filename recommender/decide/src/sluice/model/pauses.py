"""A pool that an operator has paused."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pause:
    """Since when (Unix ms), by whom and why. size: that it is held at; None: the one in force."""

    at_ms: int
    by: str
    why: str
    size: int | None = None
