"""The latency histogram of a window: index i counts durations with 2^(i/64) < ns <= 2^((i+1)/64)."""

from __future__ import annotations

BUCKETS_PER_OCTAVE = 64


def last_index_within(threshold_ns: int) -> int:
    """The last index that lies wholly within the threshold: the largest i with 2^((i+1)/64) <= threshold_ns.

    2^(i+1) <= T^64 is the same in whole numbers, so i + 1 = bit_length(T^64) - 1, exactly. A float logarithm would put
    a threshold that is itself a bucket's edge on either side of it. Worked: 1 ns -> -1; 2 ns -> 63; 120 ms -> 1716. A
    bucket counts whole or not at all, so completions within 1.09 % under the threshold may count as late.
    """
    if threshold_ns < 1:
        raise ValueError(f"threshold of {threshold_ns} ns is not legal; legal: >= 1 ns")
    power: int = threshold_ns**BUCKETS_PER_OCTAVE
    return power.bit_length() - 2
