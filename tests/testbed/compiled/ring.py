"""First in, first out, in an array; its first two entries are where the first stands and how many there are."""

import numpy as np
from numpy.typing import NDArray

from .jit import compiled

HEAD = 2

Ring = NDArray[np.int64]
"""Shape (HEAD + room,)."""


def fill(ring: Ring) -> None:
    """With 0, 1, ... up to its room."""
    ring[0], ring[1] = 0, len(ring) - HEAD
    ring[HEAD:] = np.arange(len(ring) - HEAD)


@compiled
def length(ring: Ring) -> int:
    return ring[1]  # type: ignore[no-any-return]


@compiled
def enter(ring: Ring, who: int) -> None:
    room = ring.shape[0] - HEAD
    at = ring[0] + ring[1]
    ring[HEAD + (at - room if at >= room else at)] = who
    ring[1] += 1


@compiled
def leave(ring: Ring) -> int:
    """The one that waits longest."""
    who = ring[HEAD + ring[0]]
    following = ring[0] + 1
    ring[0] = 0 if following == ring.shape[0] - HEAD else following
    ring[1] -= 1
    return who  # type: ignore[no-any-return]
