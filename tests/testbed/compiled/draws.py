"""Random times inside a kernel, the very numbers that ``random.Random`` draws from the same stream.

CPython's generator (Matsumoto and Nishimura's MT19937, 53 bits of two words) and its ``lognormvariate`` (Kinderman and
Monahan's ratio of uniforms) and ``expovariate``, written again: a compiled run then has the testbed's own engine's
events, to the last bit. A stream is a row of 625 integers: the generator's words, and how many of them are used up.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..distributions import stream
from .jit import compiled

WORDS, SHIFT = 624, 397
USED = WORDS
ROW = WORDS + 1
UPPER, LOWER, TWIST = 0x80000000, 0x7FFFFFFF, 0x9908B0DF
RATIO = 4.0 * math.exp(-0.5) / math.sqrt(2.0)


def words(seed: int, *names: str) -> NDArray[np.int64]:
    """The row of ``distributions.stream(seed, *names)``."""
    return np.array(stream(seed, *names).getstate()[1], dtype=np.int64)


@compiled
def _refill(words: NDArray[np.int64]) -> None:
    for i in range(WORDS):
        y = (words[i] & UPPER) | (words[(i + 1) % WORDS] & LOWER)
        word = words[(i + SHIFT) % WORDS] ^ (y >> 1)
        words[i] = word ^ TWIST if y & 1 else word
    words[USED] = 0


@compiled
def _word(words: NDArray[np.int64]) -> int:
    if words[USED] >= WORDS:
        _refill(words)
    y = words[words[USED]]
    words[USED] += 1
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return y ^ (y >> 18)  # type: ignore[no-any-return]


@compiled
def uniform(words: NDArray[np.int64]) -> float:
    """In [0, 1)."""
    high = _word(words) >> 5
    return (high * 67108864.0 + (_word(words) >> 6)) * (1.0 / 9007199254740992.0)


@compiled
def exponential(words: NDArray[np.int64], rate: float) -> float:
    return -math.log(1.0 - uniform(words)) / rate


@compiled
def log_normal(words: NDArray[np.int64], mu: float, sigma: float) -> float:
    while True:
        u1 = uniform(words)
        u2 = 1.0 - uniform(words)
        z = RATIO * (u1 - 0.5) / u2
        if z * z / 4.0 <= -math.log(u2):
            return math.exp(mu + z * sigma)
