"""Stepping the engine of tiers, with what happens at given seconds in between, and what it has seen."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import kernel
from .limits import MOST_TIERS

ARRIVED, BEGUN, ENDED, INSTANCE, CONNECTED = range(5)
WAITS = 3 + MOST_TIERS
"""Columns of rows, s but for the number of the instance; connected: when the second tier began; waits: when the first
tier began to wait for what it calls. What never began is negative: a request that was turned away has no beginning."""

Floats = NDArray[np.float64]


class TierRun:
    def __init__(self, memory: Any, seconds: float) -> None:
        self._memory = memory
        self._seconds = seconds
        self._rows: Floats = np.empty((4 * len(memory["rows"]), memory["rows"].shape[1]))
        self._finished = 0
        self._numbers = count()
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []

    @property
    def now(self) -> float:
        return float(self._memory["now"])

    @property
    def finished(self) -> int:
        """Requests, those that were turned away included."""
        return self._finished

    @property
    def rows(self) -> Floats:
        """Of all finished requests, in the order of their ends; shape (finished, columns)."""
        return self._rows[: self._finished]

    def until(self, second: float) -> None:
        """Everything up to and including ``second`` happens.

        Raises:
            ValueError: it lies before ``now``, or after the scenario's end.
        """
        if not self.now <= second <= self._seconds:
            raise ValueError(f"run until {second:g} s: must be {self.now:g} to {self._seconds:g}")
        while self._agenda and self._agenda[0][0] <= second:
            at, _, action = heappop(self._agenda)
            self._advance(at)
            action()
        self._advance(second)

    def outcomes(self) -> tuple[Floats, Floats]:
        """Second of each response and what it took, s, infinite where it failed; each of shape (finished,)."""
        arrived, begun, ended = self.rows[:, :3].T
        return ended.copy(), np.where(begun < 0, np.inf, ended - arrived)

    def _at(self, second: float, action: Callable[[], None]) -> None:
        heappush(self._agenda, (second, next(self._numbers), action))

    def _advance(self, second: float) -> None:
        reached = False
        while not reached:
            reached = kernel.advance(self._memory, second)
            new = int(self._memory["recorded"])
            if self._finished + new > len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            self._rows[self._finished : self._finished + new] = self._memory["rows"][:new]
            self._finished += new
            self._memory["recorded"] = 0
