"""The confidence in a target, 0..1."""

from __future__ import annotations

# Buckets at which the factor of numbers is one half.
HALF_TRUST_BUCKETS = 60
# Kneedle's knee is outside the band, so the unimodal fit alone decided.
ONE_METHOD = 0.8
# The pool's own spans judge, which do not contain the wait for the pool.
OWN_SPANS = 0.5


def confidence(buckets: int, lower: float, upper: float, highest: float, methods_agree: bool, by_caller: bool) -> float:
    """Numbers x sharpness x method x judge.

        numbers   = buckets / (buckets + 60)
        sharpness = 1 - (upper - lower) / (2 highest)     lower..upper: the band; highest: highest concurrency seen
        method    = 1, or 0.8 when Kneedle lies outside the band
        judge     = 1, or 0.5 when only the pool's own spans judge

    Worked values, caller-judged and methods in agreement:
        600 buckets, band 10..16 of 64   -> 0.909 x 0.953 = 0.87
        600 buckets, band 8..64 of 64    -> 0.909 x 0.563 = 0.51    flat: any size in it is as good
        100 buckets, band 10..16 of 64   -> 0.625 x 0.953 = 0.60
        600 buckets, band 10..16, own spans, Kneedle outside -> 0.87 x 0.5 x 0.8 = 0.35
    """
    numbers = buckets / (buckets + HALF_TRUST_BUCKETS)
    sharpness = 1 - (upper - lower) / (2 * highest)
    return numbers * sharpness * (1.0 if methods_agree else ONE_METHOD) * (1.0 if by_caller else OWN_SPANS)
