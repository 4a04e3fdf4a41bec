"""A binary heap of the least keys, as an array of entries: what `heapq` has, where keys change."""

from __future__ import annotations

from sluice.subsets.compiled import compiled
from sluice.subsets.fleet import Floats, Ints


@compiled
def sink(keys: Floats, heap: Ints, size: int, at: int) -> None:
    """Puts the entry at `at` of a heap of the least keys to its place below."""
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
    """Puts the entry at `at` to its place above."""
    while at > 0 and keys[heap[at]] < keys[heap[(at - 1) // 2]]:
        heap[at], heap[(at - 1) // 2] = heap[(at - 1) // 2], heap[at]
        at = (at - 1) // 2
