"""The mix of operations that users ask for."""

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
        if not all(math.isfinite(weight) and weight >= 0 for weight in weights.values()) or sum(weights.values()) <= 0:
            raise ValueError(f"mix requests: weights must be >= 0 and their sum > 0, got {dict(weights)}")
        self._targets = [application.entry(operation) for operation in weights]
        self._cumulative = list(accumulate(weights.values()))

    def choose(self, rng: Random) -> Target:
        return rng.choices(self._targets, cum_weights=self._cumulative)[0]
