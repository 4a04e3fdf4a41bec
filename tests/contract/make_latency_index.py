"""Writes latency_index.csv: durations and their histogram index, in exact integer arithmetic.

The index of a duration d is ceil(64 * log2(d)) - 1 (OpenTelemetry exponential histogram, scale 6). Since
ceil(log2(n)) = bit_length(n - 1) for every integer n >= 1, it is bit_length(d**64 - 1) - 1, without any rounding.
Every implementation (Java, Python, SQL) is tested against this one file.
"""

from pathlib import Path

OUT = Path(__file__).with_name("latency_index.csv")


def exact_index(duration_ns: int) -> int:
    """Index of the bucket (2^(i/64), 2^((i+1)/64)] ns that holds the duration; 0 ns counts as 1 ns."""
    return (max(duration_ns, 1) ** 64 - 1).bit_length() - 1


def last_in(index: int) -> int:
    """The largest whole duration in bucket `index`, by bisection on `exact_index`."""
    low, high = 0, 2 ** ((index + 1) // 64 + 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if exact_index(middle) <= index else (low, middle)
    return low


def durations() -> list[int]:
    powers = [2**k + delta for k in range(41) for delta in (-1, 0, 1)]
    edges = [last_in(index) + step for index in range(600, 2560, 37) for step in (0, 1)]
    round_ones = [0, 10**3, 10**6, 5 * 10**6, 10**7, 25 * 10**6, 10**8, 12 * 10**7, 25 * 10**7, 10**9, 6 * 10**11]
    return sorted({d for d in powers + edges + round_ones if d >= 0})


def table() -> str:
    return "\n".join(["duration_ns,index", *(f"{d},{exact_index(d)}" for d in durations())]) + "\n"


def main() -> None:
    OUT.write_text(table())


if __name__ == "__main__":
    main()
