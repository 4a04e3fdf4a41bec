"""A limiter that gets its data late, as from traces that travel through a pipeline."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from bench.controllers.signal import Around, Signal

SLACK_S = 1e-6


@dataclass
class Delayed(Around):
    """Hands each window on when it is ``delay_s`` old; until the first one the pool's size stays.

    When the rule is told of a new capacity, what is still under way is dropped: it is of the old one.
    """

    delay_s: float
    _under_way: deque[Signal] = field(default_factory=deque)
    _heard: bool = False

    def update(self, signal: Signal) -> float:
        self._under_way.append(signal)
        while self._under_way and self._under_way[0].until_s <= signal.until_s - self.delay_s + SLACK_S:
            self.rule.update(self._under_way.popleft())
            self._heard = True
        return self.rule.limit if self._heard else float(signal.sizes[-1])

    def rescale(self, factor: float) -> None:
        self._under_way.clear()
        self.rule.rescale(factor)
