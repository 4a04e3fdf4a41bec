"""The mix of operations that users ask for, which may change during a run."""

import math
from collections.abc import Mapping
from itertools import accumulate
from random import Random

from .application import Application
from .request import Target


class Mix:
    """Weights of the entry's operations.

    Raises:
        ValueError: an operation that the entry does not have, a weight below 0, or weights that sum to 0.
    """

    def __init__(self, application: Application, weights: Mapping[str, float]) -> None:
        self._application = application
        self._known: dict[str, Target] = {}
        self._targets: list[Target] = []
        self._cumulative: list[float] = []
        self.change(weights)

    def change(self, weights: Mapping[str, float]) -> None:
        check_weights(weights)
        for operation in weights:
            if operation not in self._known:
                self._known[operation] = self._application.entry(operation)
        self._targets = [self._known[operation] for operation in weights]
        self._cumulative = list(accumulate(weights.values()))

    def choose(self, rng: Random) -> Target:
        return rng.choices(self._targets, cum_weights=self._cumulative)[0]


def check_weights(weights: Mapping[str, float]) -> None:
    """Raises ValueError when they cannot be the weights of a mix."""
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights.values()) or not sum(weights.values()) > 0:
        raise ValueError(f"mix requests: weights must be >= 0 and their sum > 0, got {dict(weights)}")
