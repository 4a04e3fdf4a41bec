"""A pause of a pool by an operator."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pause:
    """at_ms: its start (Unix ms). by, why: who paused, and the reason. size: held size; None: the one in force."""

    at_ms: int
    by: str
    why: str
    size: int | None = None
