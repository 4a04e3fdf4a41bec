"""Did another size gain anything, or lose? Compares what completes while the one and the other is full.

Throughput, not goodput: with the larger pool less of the wait lies before it, so buckets of the same concurrency look
better even where nothing is gained (27 and 36 good a second on a simulated service whose database took 4 at a time,
at 6 and 8 threads). If no more completes while the other one is full, the wait was only moved; and where more
completes, fewer are late. A goodput that falls at the larger size is a fall of the curve, and gives a size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.pools.estimate.in_time import newest_alike
from sluice.pools.estimate.samples import Floats, Samples

# Buckets under demand that either side must have: 2 s of them.
MIN_BUCKETS = 20
# A gain counts when it is more than noise: two standard errors of the difference.
STANDARD_ERRORS = 2.0
# And when it is worth a step, which is a quarter of the size: a throughput that grows by less is at its top.
LEAST_GAIN = 0.05
# Before a window has passed a step is looked at again and again: then an answer has to be clearer, and the size as
# old as this.
EARLY_MS, EARLY_STANDARD_ERRORS = 10_000, 3.0
# A size that a curve named is taken back when it loses more than the estimators do not tell apart.
LEAST_LOSS = 0.10
# It is compared with what up to so many times its size in flight did.
NEAR = 1.5


@dataclass(frozen=True)
class Sight:
    """Throughput per second and instance while a pool of some size had all it could take, and its standard error."""

    throughput_per_s: float
    standard_error: float


@dataclass(frozen=True)
class Step:
    """A change of size on trial, with what was seen where it began.

    explores: whether it has to gain; else a curve named it, and it must only not lose. failed: it did not.
    """

    from_size: int
    to_size: int
    before: Sight
    explores: bool = True
    failed: bool = False

    @property
    def up(self) -> bool:
        return self.to_size > self.from_size

    def reaches(self, size: int) -> bool:
        """Whether a size is on the way: the guard may have cut the step short. Worked: from 8 to 10, 9 and 10 are."""
        low, high = sorted((self.from_size, self.to_size))
        return low <= size <= high and size != self.from_size


def under_demand(samples: Samples | None, size: int) -> Sight | None:
    """Throughput in the buckets in which a pool of `size` would have been full; None when there are too few.

    Buckets of 90 % of the size count, as in `Samples.full`: demand was at least the size then. The larger pool is
    judged by its own size: with the smaller one's, buckets would count in which nobody waited, and only a few slow
    requests were in flight together; they complete less, and a step that was right was taken back. Of buckets that
    differ from older to newer only the newest count: a step that answers a change is compared with what was after it.
    """
    if samples is None:
        return None
    full = samples.concurrency >= _full(size)
    rates = samples.throughput_per_s[full]
    if samples.start_ms is not None and len(rates) >= MIN_BUCKETS:
        rates = newest_alike(rates, samples.start_ms[full], MIN_BUCKETS)
    return _sight(rates)


def about(samples: Samples | None, size: int) -> Sight | None:
    """Throughput with about `size` in flight, whatever the pool's: up to 1.5 times as many. None of too few buckets."""
    if samples is None:
        return None
    x = samples.concurrency
    return _sight(samples.throughput_per_s[(x >= _full(size)) & (x <= NEAR * size)])


def _full(size: int) -> float:
    return min(size - 0.5, 0.9 * size)


def _sight(rates: Floats) -> Sight | None:
    if len(rates) < MIN_BUCKETS:
        return None
    return Sight(float(rates.mean()), float(rates.std(ddof=1) / np.sqrt(len(rates))))


def passes(step: Step, after: Sight, early: bool) -> bool | None:
    """Whether the step stands; None while it cannot be told, which only `early`, within the window, can be."""
    if step.explores:
        return (gained_early if early else gained)(step.before, after)
    if lost(step.before, after, EARLY_STANDARD_ERRORS if early else STANDARD_ERRORS):
        return False
    return None if early else True


def gained(before: Sight, after: Sight) -> bool:
    """Worked: 100 +- 3 and 120 +- 4 per second differ by 20, noise explains 2 x 5 = 10: gained. 108 is none."""
    return _difference(before, after) > STANDARD_ERRORS and _gain(before, after) >= LEAST_GAIN * before.throughput_per_s


def gained_early(before: Sight, after: Sight) -> bool | None:
    """The same within the window; None while it cannot be told.

    Worked: 100 +- 1 and 110 +- 1: 10 is more than 3 x 1.41 = 4.2, gained. 99 +- 1: at most -1 + 4.2 = 3.2, which is
    under 5: not gained. 103: at most 7.2: cannot be told.
    """
    if _difference(before, after) > EARLY_STANDARD_ERRORS and gained(before, after):
        return True
    most = _gain(before, after) + EARLY_STANDARD_ERRORS * _noise(before, after)
    return False if most < LEAST_GAIN * before.throughput_per_s else None


def lost(before: Sight, after: Sight, standard_errors: float) -> bool:
    """Worked with two: 100 +- 3 and 80 +- 4 differ by 20, noise explains 10: lost. 92, or 85 +- 10, is not."""
    return (
        _difference(before, after) < -standard_errors and _gain(before, after) <= -LEAST_LOSS * before.throughput_per_s
    )


def _gain(before: Sight, after: Sight) -> float:
    return after.throughput_per_s - before.throughput_per_s


def _noise(before: Sight, after: Sight) -> float:
    return float(np.hypot(before.standard_error, after.standard_error))


def _difference(before: Sight, after: Sight) -> float:
    """In standard errors."""
    gain, noise = _gain(before, after), _noise(before, after)
    return gain / noise if noise > 0 else float(np.sign(gain)) * float("inf") if gain else 0.0
