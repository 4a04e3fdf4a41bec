"""A pool that an operator has paused."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pause:
    """Since when (Unix ms), by whom and why."""

    at_ms: int
    by: str
    why: str
