"""A binary heap in an array: the earliest time first, of one time the one that was scheduled first."""

import numpy as np
from numpy.typing import NDArray

from .jit import compiled

ENTRY = np.dtype([("time", np.float64), ("order", np.int64), ("who", np.int64)])
Heap = NDArray[np.void]
"""Shape (capacity + 1,), of ``ENTRY``; the first entry's ``order`` is the number of the others."""


@compiled
def push(heap: Heap, time: float, order: int, who: int) -> None:
    heap[0].order += 1
    at = heap[0].order
    while at > 1:
        above = at >> 1
        if heap[above].time < time or (heap[above].time == time and heap[above].order < order):
            break
        heap[at] = heap[above]
        at = above
    heap[at].time = time
    heap[at].order = order
    heap[at].who = who


@compiled
def pop(heap: Heap) -> None:
    """Takes the first entry, ``heap[1]``, away."""
    last = heap[0].order
    time, order, who = heap[last].time, heap[last].order, heap[last].who
    heap[0].order = last - 1
    at = 1
    while True:
        below = at << 1
        if below >= last:
            break
        if below + 1 < last and (
            heap[below + 1].time < heap[below].time
            or (heap[below + 1].time == heap[below].time and heap[below + 1].order < heap[below].order)
        ):
            below += 1
        if time < heap[below].time or (time == heap[below].time and order < heap[below].order):
            break
        heap[at] = heap[below]
        at = below
    heap[at].time = time
    heap[at].order = order
    heap[at].who = who
