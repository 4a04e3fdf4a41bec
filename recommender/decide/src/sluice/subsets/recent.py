"""The newest observation, for the steps of notifications that follow each other within a window."""

from __future__ import annotations

from typing import Protocol

from sluice.subsets.observed import ObservedApplication

#: The pipeline's windows, which subsets are made from, are 10 s long. Within that a query shows nothing new.
WINDOW_MS = 10_000


class Observing(Protocol):
    def observed(self, now_ms: int, window_ms: float) -> ObservedApplication: ...


class RecentObservation:
    """A source is read at most once in WINDOW_MS. Not thread-safe: one step runs at a time."""

    def __init__(self) -> None:
        self._last: tuple[Observing, int, float, ObservedApplication] | None = None

    def observed(self, source: Observing, now_ms: int, window_ms: float) -> ObservedApplication:
        """The last observation, if it is younger than WINDOW_MS and of the same source and window. Raises the source's
        errors."""
        if self._last is not None:
            of, at_ms, window, observed = self._last
            if of is source and window == window_ms and at_ms <= now_ms < at_ms + WINDOW_MS:
                return observed
        observed = source.observed(now_ms, window_ms)
        self._last = source, now_ms, window_ms, observed
        return observed
