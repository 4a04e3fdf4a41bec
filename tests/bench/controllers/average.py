"""The running mean of Netflix's and failsafe-go's limiters: plain at first, then exponential."""

from __future__ import annotations

from dataclasses import dataclass

WARM_UP = 10


@dataclass
class Average:
    """Over about ``window`` values: the plain mean of the first 10, then each new one counts 2 / (window + 1).

    Worked, window 4: 1 to 10 mean 5.5; then 10.5 gives 5.5 + 0.4 * 5 = 7.5.
    """

    window: int
    value: float = 0.0
    _sum: float = 0.0
    _count: int = 0

    def add(self, value: float) -> float:
        if self._count < WARM_UP:
            self._count += 1
            self._sum += value
            self.value = self._sum / self._count
        else:
            self.value += 2 / (self.window + 1) * (value - self.value)
        return self.value

    def reset(self) -> None:
        self.value, self._sum, self._count = 0.0, 0.0, 0
