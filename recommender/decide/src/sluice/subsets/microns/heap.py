"""A binary min-heap of entries by key, compiled. Unlike `heapq`, it allows keys that change."""

from __future__ import annotations

from sluice.fast.compiled import compiled
from sluice.subsets.fleet import Floats, Ints


@compiled
def sink(keys: Floats, heap: Ints, size: int, at: int) -> None:
    """Moves the entry at `at` of a min-heap down to its place."""
    while True:
        least = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < size and keys[heap[child]] < keys[heap[least]]:
                least = child
        if least == at:
            return
        heap[at], heap[least] = heap[least], heap[at]
        at = least


@compiled
def rise(keys: Floats, heap: Ints, at: int) -> None:
    """Moves the entry at `at` up to its place."""
    while at > 0 and keys[heap[at]] < keys[heap[(at - 1) // 2]]:
        heap[at], heap[(at - 1) // 2] = heap[(at - 1) // 2], heap[at]
        at = (at - 1) // 2
