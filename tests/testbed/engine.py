"""The event heap: virtual time that moves from event to event."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

Action = Callable[[Any], None]


class Engine:
    """Runs actions in order of their time; actions of one time run in the order in which they were scheduled.

    Time is in seconds since the start of the run. An action takes one argument, so that the hot path needs
    neither closures nor bound methods: ``engine.after(0.5, Request.finish, request)``.
    """

    __slots__ = ("_heap", "_scheduled", "now")

    def __init__(self) -> None:
        self.now = 0.0
        self._heap: list[tuple[float, int, Action, Any]] = []
        self._scheduled = 0

    def at(self, time: float, action: Action, argument: Any) -> None:
        """Schedules ``action(argument)`` at ``time`` (s).

        Raises:
            ValueError: the time lies before ``now``.
        """
        if not time >= self.now:
            raise ValueError(f"schedule an event at {time} s: the clock already stands at {self.now} s")
        self._scheduled += 1
        heappush(self._heap, (time, self._scheduled, action, argument))

    def after(self, delay: float, action: Action, argument: Any) -> None:
        """Schedules ``action(argument)`` in ``delay`` seconds; the delay must not be negative (unchecked: hot path)."""
        self._scheduled += 1
        heappush(self._heap, (self.now + delay, self._scheduled, action, argument))

    def run_until(self, end: float) -> int:
        """Runs every event up to and including ``end`` (s), leaves the clock there, returns the number of events."""
        heap = self._heap
        ran = 0
        while heap and heap[0][0] <= end:
            time, _, action, argument = heappop(heap)
            self.now = time
            action(argument)
            ran += 1
        self.now = max(self.now, end)
        return ran
