"""A service in phases: what a size completes, and what its spans tell of it. Without memory of what waits.

Who adapts is in it: `Trap` lets every other size than the operator's collapse once it has been in force for a while.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["rises", "hump", "cliff", "flat", "held", "dead"]

# How long a caller waits for a pool that does not get to it.
PATIENCE_S = 2.0


@dataclass(frozen=True)
class Curve:
    """What a full pool of n completes a second.

    rises  unit n, up to `knee`
    hump   the same, and beyond the knee less by 1 / (1 + slope (n / knee - 1))
    cliff  the same as rises, and beyond 1.5 knees a twentieth
    flat   unit knee, whatever n
    held   unit (n - holds), up to the knee: others hold so many slots, and their spans are not there
    dead   nothing
    """

    kind: Kind
    unit: float
    knee: float
    slope: float = 1.0
    holds: int = 0

    def per_s(self, size: int) -> float:
        """Worked, 10 a second each up to 8, slope 1: a hump does 80 at 8, and at 16 80 / (1 + 1) = 40."""
        top = self.unit * self.knee
        if self.kind == "dead":
            return 0.0
        if self.kind == "flat":
            return top
        if self.kind == "held":
            return self.unit * min(max(size - self.holds, 0), self.knee)
        rising = min(self.unit * size, top)
        if self.kind == "hump":
            return rising / (1 + self.slope * max(0.0, size / self.knee - 1))
        return rising / 20 if self.kind == "cliff" and size > 1.5 * self.knee else rising


@dataclass(frozen=True)
class Phase:
    """From `at_s` on. demand_per_s: requests that come. fails: share of what completes that failed, for other reasons;
    refuses_over: a callee answers what is in flight beyond that with an error, at once; 0: never.

    tells: in flight as spans have it, as a part of what is; jitter: relative, of each bucket. silent: nothing of it is
    told while it lasts.
    """

    at_s: int
    curve: Curve
    demand_per_s: float
    fails: float = 0.0
    refuses_over: int = 0
    tells: float = 1.0
    jitter: float = 0.1
    silent: bool = False


@dataclass(frozen=True)
class Trap:
    """A size that is not the operator's does `factor` of what it did, once it was in force for `after_s`."""

    after_s: int
    factor: float


@dataclass(frozen=True)
class World:
    """size: the operator's, at first. sets: (second, size) that they set later. delay_s: age of the newest bucket that
    is read. clock_s: of the host, ahead of the reader's."""

    seed: int
    seconds: int
    size: int
    most: int
    phases: tuple[Phase, ...]
    trap: Trap | None = None
    sets: tuple[tuple[int, int], ...] = ()
    delay_s: float = 2.0
    clock_s: float = 0.0

    def phase(self, second: int) -> Phase:
        return next(phase for phase in reversed(self.phases) if phase.at_s <= second)


@dataclass(frozen=True)
class Second:
    """What is true of a second under a size. good_per_s, failed_per_s: completions. in_flight: in the pool. waiting: at
    callers, for the pool."""

    good_per_s: float
    failed_per_s: float
    in_flight: float
    waiting: float


def true_of(phase: Phase, size: int, factor: float = 1.0) -> Second:
    """factor: of what the curve says.

    Worked, 10 a second each up to 8, 100 of them asked, 4 threads: 40 a second, all 4 busy, and 2 s of 60 a second
    wait. At 20 a second with 16 threads: 20 complete, 2 in flight.
    """
    can = factor * phase.curve.per_s(size)
    done = min(phase.demand_per_s, can)
    stay_s = 1 / phase.curve.unit
    busy = float(size - phase.curve.holds) if phase.curve.kind == "held" else float(size)
    full = phase.demand_per_s > can
    in_flight = max(0.0, busy if full else min(busy, done * stay_s))
    failed = done * phase.fails
    if phase.refuses_over and in_flight > phase.refuses_over:
        # Refused at once, a slot turns over ten times as fast.
        share = (in_flight - phase.refuses_over) / in_flight
        failed += 10 * done * share
        done = done * (1 - share)
    return Second(done * (1 - phase.fails), failed, in_flight, PATIENCE_S * max(0.0, phase.demand_per_s - can))
