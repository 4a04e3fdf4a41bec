"""Liveness and readiness of a process: causes for which it cannot be used now, and for which it must be restarted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# A loop without progress for this long hangs. Within a period, each query and each report to the group is progress; the
# longest step without progress is the takeover of a shard from a slow broker.
HANGS_S = 120.0


class Health:
    """For any thread. clock: seconds; only grows."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._causes: dict[str, str] = {}
        self.progress()

    def progress(self, within_s: float = HANGS_S) -> None:
        """The loop made progress, and makes the next within `within_s`."""
        now = self._clock()
        self._last, self._due = now, now + within_s

    def lacks(self, part: str, cause: str) -> None:
        """The process cannot be used for `cause`. part: what is at fault; one cause is kept for each part."""
        with self._lock:
            self._causes[part] = " ".join(cause.split())

    def has(self, part: str) -> None:
        """Ends the cause of `part`, if there is one."""
        with self._lock:
            self._causes.pop(part, None)

    def hangs(self) -> list[str]:
        """A line for a loop that hangs; else nothing."""
        now = self._clock()
        return [f"loop: no progress for {now - self._last:.0f} s"] if now > self._due else []

    def unready(self) -> list[str]:
        """A line for each cause, `part: cause`."""
        with self._lock:
            return [*self.hangs(), *(f"{part}: {cause}" for part, cause in self._causes.items())]
