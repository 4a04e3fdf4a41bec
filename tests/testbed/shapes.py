"""Load shapes: how many users there are at a time, as a share of the most there will ever be."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MOST_SHARE = 100.0
"""Of the users of a scenario: a load may be above the one that it calls 1.0."""


@dataclass(frozen=True)
class Repeating:
    """A piecewise linear curve through ``points`` (second, share), which repeats after ``period`` seconds.

    Worked: points (0, 0.2), (10, 1.0), (30, 0.2) with period 40 are 0.6 at 5 s, 0.6 at 20 s, and 0.2 from 30 to 40 s.
    """

    period: float
    points: Sequence[tuple[float, float]]

    def __post_init__(self) -> None:
        times = [time for time, _ in self.points]
        if not times or times[0] != 0 or times != sorted(times) or times[-1] > self.period:
            raise ValueError(f"build a load shape: points must rise in time from 0 to {self.period} s, got {times}")
        if any(not 0 <= share <= 1 for _, share in self.points):
            raise ValueError("build a load shape: shares must lie in 0 to 1")

    def __call__(self, second: float) -> float:
        phase = second % self.period
        after = bisect_right(self.points, phase, key=lambda point: point[0])
        t0, s0 = self.points[after - 1]
        if after == len(self.points):
            t1, s1 = self.period, self.points[0][1]
        else:
            t1, s1 = self.points[after]
        return s0 + (s1 - s0) * (phase - t0) / (t1 - t0) if t1 > t0 else s1

    def lasting(self, period: float) -> "Repeating":
        """The same curve, drawn out or compressed to another period."""
        return Repeating(
            period, tuple((min(second * period / self.period, period), share) for second, share in self.points)
        )


@dataclass(frozen=True)
class Held:
    """A piecewise linear curve through ``points`` (second, share), whose first and last shares hold outside them.

    Two points at one second are a step. Worked: (0, 0.3), (60, 1.0), (90, 1.0), (90, 0.3) is 0.65 at 30 s, 1.0 at 89 s
    and 0.3 from 90 s on.
    """

    points: Sequence[tuple[float, float]]

    def __post_init__(self) -> None:
        times = [time for time, _ in self.points]
        if not times or times[0] < 0 or times != sorted(times):
            raise ValueError(f"points must rise in time from 0 s, got {times}")
        if any(not 0 <= share <= MOST_SHARE for _, share in self.points):
            raise ValueError(f"shares must lie in 0 to {MOST_SHARE:g}")

    def __call__(self, second: float) -> float:
        after = bisect_right(self.points, second, key=lambda point: point[0])
        if after == 0 or after == len(self.points):
            return self.points[max(0, after - 1)][1]
        (t0, s0), (t1, s1) = self.points[after - 1 : after + 1]
        return s0 + (s1 - s0) * (second - t0) / (t1 - t0)
