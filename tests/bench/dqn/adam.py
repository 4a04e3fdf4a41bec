"""Adam (Kingma and Ba 2015) on one vector of weights."""

from __future__ import annotations

import numpy as np

from bench.dqn.network import Array

BETA_1, BETA_2, EPS = 0.9, 0.999, 1e-8


class Adam:
    def __init__(self, size: int, rate: float) -> None:
        self.mean, self.square = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
        self.steps, self._rate = 0, rate

    def step(self, theta: Array, gradient: Array) -> None:
        """Moves theta in place."""
        self.steps += 1
        self.mean += (1 - BETA_1) * (gradient - self.mean)
        self.square += (1 - BETA_2) * (gradient * gradient - self.square)
        rate = self._rate * np.sqrt(1 - BETA_2**self.steps) / (1 - BETA_1**self.steps)
        theta -= np.float32(rate) * self.mean / (np.sqrt(self.square) + np.float32(EPS))
