"""The Q-network: two hidden layers of rectified linear units, gradients by hand, all weights in one vector.

    h1 = relu(x W1 + b1)    h2 = relu(h1 W2 + b2)    Q = h2 W3 + b3

JAX is not used. Measured in CPU time, importing it and optax takes 2.0 s and 175 MB, 300 MB after the first step, and
341 MB on disk. A step of 64 transitions takes 160 to 180 us with it, and 200 us here, with 36 MB in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""32-bit in training; 64-bit where gradients are checked by finite differences."""


@dataclass(frozen=True)
class Network:
    """inputs: width of a state. actions: outputs."""

    inputs: int
    actions: int
    neurons: int = 40

    @cached_property
    def _shapes(self) -> list[tuple[int, ...]]:
        n, outputs = self.neurons, self.actions
        return [(self.inputs, n), (n,), (n, n), (n,), (n, outputs), (outputs,)]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(int(np.prod(shape)) for shape in self._shapes))

    @property
    def size(self) -> int:
        """Length of the vector of weights."""
        return self._ends[-1]

    def begin(self, random: np.random.Generator) -> Array:
        """He's weights in the hidden layers. The last layer begins at a tenth of that, so that the values of untried
        sizes differ little."""
        theta = np.zeros(self.size, dtype=np.float32)
        for layer, (weights, _) in enumerate(self._layers(theta)):
            scale = np.sqrt(2.0 / weights.shape[0]) * (0.1 if layer == 2 else 1.0)
            weights[:] = random.normal(0.0, scale, weights.shape)
        return theta

    def values(self, theta: Array, states: Array) -> Array:
        """Q of each action, (n, S) to (n, K)."""
        return self._forward(theta, states)[-1]

    def gradient(self, theta: Array, states: Array, actions: Array, wanted: Array) -> tuple[float, Array]:
        """Mean of (Q(s, a) - wanted)^2 over n states (equation 2), and its gradient in theta."""
        h1, h2, q = self._forward(theta, states)
        n, at = len(states), np.arange(len(states))
        off = q[at, actions] - wanted
        of_q = np.zeros_like(q)
        of_q[at, actions] = 2.0 / n * off
        grown = np.empty_like(theta)
        (w1, b1), (w2, b2), (w3, b3) = self._layers(grown)
        (_, _), (v2, _), (v3, _) = self._layers(theta)
        w3[:], b3[:] = h2.T @ of_q, of_q.sum(axis=0)
        of_h2 = (of_q @ v3.T) * (h2 > 0)
        w2[:], b2[:] = h1.T @ of_h2, of_h2.sum(axis=0)
        of_h1 = (of_h2 @ v2.T) * (h1 > 0)
        w1[:], b1[:] = states.T @ of_h1, of_h1.sum(axis=0)
        return float(np.mean(off * off)), grown

    def _forward(self, theta: Array, states: Array) -> tuple[Array, Array, Array]:
        (w1, b1), (w2, b2), (w3, b3) = self._layers(theta)
        h1 = np.maximum(states @ w1 + b1, 0)
        h2 = np.maximum(h1 @ w2 + b2, 0)
        return h1, h2, h2 @ w3 + b3

    def _layers(self, theta: Array) -> list[tuple[Array, Array]]:
        """Views of weights and biases."""
        begins = [0, *self._ends[:-1]]
        parts = [
            theta[begin:end].reshape(shape) for begin, end, shape in zip(begins, self._ends, self._shapes, strict=True)
        ]
        return list(zip(parts[::2], parts[1::2], strict=True))
