"""The latency histogram of a window: index i counts durations with 2^(i/64) < ns <= 2^((i+1)/64)."""

from __future__ import annotations

BUCKETS_PER_OCTAVE = 64


def last_index_within(threshold_ns: int) -> int:
    """The last index that lies wholly within the threshold: the largest i with 2^((i+1)/64) <= threshold_ns.

    2^(i+1) <= T^64 is the same in whole numbers, so i + 1 = bit_length(T^64) - 1, exactly: a float logarithm would
    put a threshold that is itself a bucket's edge on either side of it. Worked: 1 ns -> -1; 2 ns -> 63;
    120 ms -> 1716. Since a bucket is kept or left out whole, completions within 1.09 % under the threshold may be
    counted as late.
    """
    if threshold_ns < 1:
        raise ValueError(f"threshold of {threshold_ns} ns is not legal; legal: >= 1 ns")
    power: int = threshold_ns**BUCKETS_PER_OCTAVE
    return power.bit_length() - 2
