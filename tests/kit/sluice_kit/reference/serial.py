"""Calls that overlap by so little that they follow one another: up to 1 % of the shorter one, and 1 ms."""

MOST_NS = 1_000_000


def are_serial(overlap_ns: int, one_ns: int, other_ns: int) -> bool:
    """Of calls of these lengths; an overlap of 0 or less is none."""
    return overlap_ns <= 0 or (overlap_ns <= MOST_NS and overlap_ns * 100 <= min(one_ns, other_ns))
