"""What the users saw in the last seconds."""

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class Recent:
    """Responses of the last ``span`` seconds; times in seconds of one clock, which only rises."""

    threshold: float
    """Seconds within which a response is good."""
    span: float = 10.0
    _responses: deque[tuple[float, bool]] = field(default_factory=deque)

    def add(self, time: float, latency: float, failed: bool) -> None:
        self._responses.append((time, not failed and latency <= self.threshold))
        self._forget(time)

    def rates(self, now: float) -> tuple[float, float]:
        """(responses, good responses) per second over the last ``span`` seconds, or since 0 when that is less."""
        self._forget(now)
        seconds = min(self.span, now)
        if seconds <= 0:
            return 0.0, 0.0
        return len(self._responses) / seconds, sum(good for _, good in self._responses) / seconds

    def _forget(self, now: float) -> None:
        while self._responses and self._responses[0][0] <= now - self.span:
            self._responses.popleft()
