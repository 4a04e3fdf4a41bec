"""Pools that an operator has paused."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from sluice.core.keys import PoolKey


@dataclass(frozen=True)
class Pause:
    """Since when (Unix ms), by whom and why."""

    at_ms: int
    by: str
    why: str


class Pauses:
    """Thread-safe: set by gRPC threads, read by the control loop."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pauses: dict[PoolKey, Pause] = {}

    def restore(self, pauses: dict[PoolKey, Pause]) -> None:
        """Takes up what was paused before a restart; what was paused since the start stays."""
        with self._lock:
            self._pauses = pauses | self._pauses

    def pause(self, key: PoolKey, pause: Pause) -> None:
        with self._lock:
            self._pauses[key] = pause

    def resume(self, key: PoolKey) -> bool:
        """Whether it was paused."""
        with self._lock:
            return self._pauses.pop(key, None) is not None

    def of(self, key: PoolKey) -> Pause | None:
        with self._lock:
            return self._pauses.get(key)
