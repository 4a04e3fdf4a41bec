"""Chooses the sampling interval from the data. Sora 3.3 leaves it to the operator (it uses 100 ms throughout).

Two errors pull in opposite directions:

- **blur**: concurrency moves over a long bucket, and its mean stands for goodput that belongs to other concurrency.
  Averaging loses this for good. Measure: the share of the variance of concurrency that the interval keeps;
- **noise**: a short bucket counts few completions; n of them have a Poisson error of 1 / sqrt(n). The fit averages that
  away over the buckets of a level, at the price of more buckets.

The choice is the shortest interval with 10 completions a bucket at the load at which most complete (32 % noise a
bucket, as at 100 ms with 100 completions a second). It is a shorter one where that would keep less than 90 % of the
variance. It never has less than one completion a bucket there, since most buckets would say nothing. (At the highest
load a service that thrashes completes little: that rule gave the shop's cart 500 ms.)

**Hysteresis.** Near a limit the choice would change back and forth from period to period, and a curve would be compared
with another interval's. So a chosen interval stays while it would be chosen with the limits moved by up to 25 %, all
towards shorter intervals or all towards longer ones: 10 completions to 7.5 or 12.5, one to 0.75 or 1.25, the 10 % of
the variance that may be lost to 7.5 % or 12.5 %. 100 ms, once chosen, stay down to 75 completions a second, and up to
250, where 50 ms have 12.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.samples import Floats

CANDIDATES_MS = (10, 20, 50, 100, 200, 500)
ENOUGH_COMPLETIONS = 10.0
FEWEST_COMPLETIONS = 1.0
KEPT_VARIANCE = 0.9
DEAD_BAND = 0.25


@dataclass(frozen=True)
class Interval:
    """ms: a multiple of the stored length; detail: why, in words."""

    ms: int
    detail: str


def legal(stored_ms: int) -> tuple[int, ...]:
    """The candidates that are sums of stored buckets; finer ones do not exist. 100 -> 100, 200, 500; 250 -> 500.

    Where there is none, the stored length itself: 700 -> 700.
    """
    return tuple(candidate for candidate in CANDIDATES_MS if candidate % stored_ms == 0) or (stored_ms,)


def choose(
    start_ms: NDArray[np.int64],
    concurrency: Floats,
    completions: Floats,
    stored_ms: int,
    before_ms: int | None = None,
) -> Interval:
    """The interval for buckets of `stored_ms` that start at `start_ms`, shape (n,), n >= 1, each once, in any order.

    concurrency: mean in flight; completions: of the bucket, by the judge. A missing bucket between the first and the
    last had nothing in flight. before_ms: the interval in force; None when there is none.
    """
    first = int(start_ms.min())
    index = (start_ms - first) // stored_ms
    in_flight, done = (np.zeros(int(index.max()) + 1) for _ in range(2))
    in_flight[index], done[index] = concurrency, completions
    rate = _best_rate(in_flight, done, stored_ms)
    candidates = legal(stored_ms)
    finest = candidates[0]
    whole = _variance(in_flight, finest // stored_ms)
    kept = {
        candidate: _variance(in_flight, candidate // stored_ms) / whole if whole > 0 else 1.0
        for candidate in candidates
    }
    anew, shortest, longest = (_by_limits(rate, kept, towards) for towards in (1, 1 - DEAD_BAND, 1 + DEAD_BAND))
    chosen = before_ms if before_ms in candidates and shortest <= before_ms <= longest else anew
    words = f"{rate * chosen:.3g} completions a bucket at best, {kept[chosen]:.0%} of the variance of concurrency kept"
    if chosen == finest and finest > CANDIDATES_MS[0]:
        words += f"; finer than the stored {stored_ms} ms cannot be had"
    if chosen != anew:
        words += f"; {anew} ms are not better by enough to change"
    return Interval(chosen, f"{chosen} ms of {', '.join(map(str, candidates))}: {words}")


def _by_limits(rate: float, kept: dict[int, float], towards: float) -> int:
    """The interval by all limits times `towards`: above 1 it is as long or longer, below as short or shorter.

    rate: completions per ms; kept: share of the variance of concurrency by interval.
    """
    longest = max(kept)
    wanted = next((width for width in kept if rate * width >= ENOUGH_COMPLETIONS * towards), longest)
    least = next((width for width in kept if rate * width >= FEWEST_COMPLETIONS * towards), longest)
    sharp = max(width for width in kept if 1 - kept[width] <= (1 - KEPT_VARIANCE) * towards)
    return max(min(wanted, sharp), least)


def _best_rate(in_flight: Floats, done: Floats, stored_ms: int) -> float:
    """Completions per ms in the quarter of the busy buckets, by the number in flight, in which most complete."""
    busy = in_flight > 0
    if not busy.any():
        return 0.0
    quarter = np.searchsorted(np.quantile(in_flight[busy], (0.25, 0.5, 0.75)), in_flight[busy])
    sums, counts = np.bincount(quarter, done[busy], minlength=4), np.bincount(quarter, minlength=4)
    return float((sums / np.maximum(counts, 1)).max() / stored_ms)


def _variance(in_flight: Floats, factor: int) -> float:
    """Variance of the means over `factor` buckets; buckets left over at the end do not count."""
    whole = len(in_flight) // factor * factor
    if whole < 2 * factor:
        return 0.0
    return float(in_flight[:whole].reshape(-1, factor).mean(axis=1).var())
