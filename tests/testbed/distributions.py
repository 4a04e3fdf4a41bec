"""Random times, each drawn from a stream of its own."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

Sampler = Callable[[], float]


def stream(seed: int, *names: str) -> random.Random:
    """A stream that depends on the seed and its own name only: other streams do not move it when they draw more."""
    return random.Random("/".join((str(seed), *names)))


@dataclass(frozen=True, slots=True)
class Constant:
    seconds: float

    def sampler(self, rng: random.Random) -> Sampler:
        seconds = self.seconds
        return lambda: seconds


@dataclass(frozen=True, slots=True)
class Exponential:
    mean: float
    """Seconds."""

    def sampler(self, rng: random.Random) -> Sampler:
        rate = 1.0 / self.mean
        return lambda: rng.expovariate(rate)


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Mean m (s) and coefficient of variation c: s^2 = ln(1 + c^2), mu = ln m - s^2 / 2.

    Worked: m = 0.010, c = 0.5 gives s = 0.472, mu = -4.717, a median of 8.9 ms.
    """

    mean: float
    cv: float

    def sampler(self, rng: random.Random) -> Sampler:
        variance = math.log1p(self.cv * self.cv)
        mu, sigma = math.log(self.mean) - variance / 2.0, math.sqrt(variance)
        return lambda: rng.lognormvariate(mu, sigma)


Distribution = Constant | Exponential | LogNormal
