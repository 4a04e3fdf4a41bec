"""Ringsteady (Ward, ACM Queue 2022): places on a ring that stay where they are when others are added."""

from __future__ import annotations


def place(number: int) -> float:
    """The binary van der Corput sequence: the bits of the number behind the point, in reverse. 1, 2, 3: 0.5, 0.25,
    0.75."""
    fraction, worth = 0.0, 0.5
    while number:
        fraction += worth * (number & 1)
        number >>= 1
        worth /= 2
    return fraction


def order(count: int) -> list[int]:
    """0 to count - 1 in the order of their places on the ring."""
    return sorted(range(count), key=place)
