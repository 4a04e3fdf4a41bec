"""Curves that were seen before, and what they say about a pool that has just been scaled. Pure.

The best size follows the CPU limit: ConScale measures Q_lower doubled when one core becomes two (IPDPS'20, Fig. 7),
Sora 10 threads at 2 cores and 30 at 4 (Middleware'23, Fig. 3 a and c). A curve is therefore remembered for what it
stood on, and gives a first size when the pool stands on that again. It is a prior, never data: no old sample joins a
new curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from sluice.pools.estimate.curve import per_level
from sluice.pools.estimate.model import Estimate
from sluice.pools.estimate.samples import Floats, Samples

# The threshold decides what is good, and with it the best size (Sora, Fig. 3 a and b): a curve judged by one that is
# further off than this share says nothing.
SAME_THRESHOLD = 0.10
# At most this many times a size that was in force on another CPU limit: both papers measured twice the cores.
MOST_GROWTH = 2


@dataclass(frozen=True)
class Footing:
    """What a pool's curve stands on. None and "" where nobody told. A server pool has no peer."""

    cpu_limit_cores: float | None = None
    version: str = ""
    peer_cpu_limit_cores: float | None = None
    peer_version: str = ""

    def __str__(self) -> str:
        parts = [
            f"{self.cpu_limit_cores:g} cores" if self.cpu_limit_cores is not None else "",
            f"version {self.version}" if self.version else "",
            f"peer of {self.peer_cpu_limit_cores:g} cores" if self.peer_cpu_limit_cores is not None else "",
            f"peer of version {self.peer_version}" if self.peer_version else "",
        ]
        return ", ".join(part for part in parts if part) or "CPU limit and version not told"


UNTOLD = Footing()


@dataclass(frozen=True)
class Rates:
    """Mean rates per level of concurrency, ascending; every array has shape (m,). count: buckets in the level."""

    concurrency: Floats
    goodput_per_s: Floats
    throughput_per_s: Floats
    count: Floats


@dataclass(frozen=True)
class Remembered:
    """The newest optimum that was found on one footing; at_ms: Unix time of the estimate."""

    at_ms: int
    target: int
    lower_bound: int
    upper_bound: int
    model: str
    threshold_ms: float
    bucket_ms: int
    rates: Rates


class Kind(Enum):
    """SAME: found on this footing before. SCALED: found on another CPU limit, and multiplied with the ratio."""

    SAME = "SAME"
    SCALED = "SCALED"


@dataclass(frozen=True)
class Prior:
    """A size to begin with. `found`, on `footing`, is where it comes from; `target` is already scaled."""

    kind: Kind
    target: int
    footing: Footing
    found: Remembered


@dataclass(frozen=True)
class Carried:
    """A size that follows from one that was in force on another footing, where no curve was ever seen.

    here: the pool stood on this very footing before, with this size; else `size` is `stood` times the ratio of the CPU
    limits.
    """

    size: int
    stood: int
    footing: Footing
    here: bool


def remember(
    estimate: Estimate, samples: Samples, at_ms: int, model: str, threshold_ms: float, bucket_ms: int
) -> Remembered:
    """What is kept of an estimate in state PROVIDED; without the buckets in which the pool was full, as its curve."""
    if estimate.target is None or estimate.lower_bound is None or estimate.upper_bound is None:
        raise ValueError(
            f"remember an estimate in state {estimate.state.value}: legal: PROVIDED, with target and bounds"
        )
    full = samples.full()
    seen = samples if full.all() else samples.take(~full)
    goodput, throughput = per_level(seen), per_level(replace(seen, goodput_per_s=seen.throughput_per_s))
    rates = Rates(goodput.concurrency, goodput.goodput_per_s, throughput.goodput_per_s, goodput.count)
    bounds = (estimate.target, estimate.lower_bound, estimate.upper_bound)
    return Remembered(at_ms, *bounds, model, threshold_ms, bucket_ms, rates)


def prior_for(entries: Mapping[Footing, Remembered], footing: Footing, threshold_ms: float) -> Prior | None:
    """What the curves of one pool say about `footing`: the same one's, else the nearest other CPU limit's, scaled.

    Worked: 12 at 1 core and nothing at 2 -> SCALED, 24. Of several, one of the same version comes first, then the
    newest. A footing whose CPU limit nobody told is no ground to scale from or to.
    """
    judged = {
        there: found
        for there, found in entries.items()
        if abs(found.threshold_ms - threshold_ms) <= SAME_THRESHOLD * threshold_ms
    }
    same = judged.get(footing)
    if same is not None:
        return Prior(Kind.SAME, same.target, footing, same)
    scaled = [
        (_versions(there) == _versions(footing), found.at_ms, ratio, there)
        for there, found in judged.items()
        if (ratio := _ratio(there, footing)) is not None
    ]
    if not scaled:
        return None
    _, _, ratio, there = max(scaled, key=lambda one: one[:2])
    return Prior(Kind.SCALED, max(1, math.ceil(judged[there].target * ratio)), there, judged[there])


def carried_over(left: Sequence[tuple[Footing, int]], here: Footing) -> Carried | None:
    """What the sizes in force on earlier footings say about this one; `left`: the oldest first, with their last sizes.

    Worked: 5 at 2 cores -> 10 at 4, and 10 at 12, at most twice. Back at 2 cores: 5 again. At 1 core for the first
    time nothing: a pool that is too large for its CPU is no reason to shrink it unseen.
    """
    for footing, size in reversed(left):
        if footing == here:
            return Carried(size, size, footing, here=True)
    if not left:
        return None
    footing, size = left[-1]
    ratio = _ratio(footing, here)
    if ratio is None or ratio <= 1:
        return None
    return Carried(math.ceil(size * min(ratio, MOST_GROWTH)), size, footing, here=False)


def _versions(footing: Footing) -> tuple[str, str]:
    return footing.version, footing.peer_version


def _ratio(there: Footing, here: Footing) -> float | None:
    """CPU of `here` over that of `there`; None when it is not known. A client pool is bounded by its peer first."""
    pairs = (
        (there.peer_cpu_limit_cores, here.peer_cpu_limit_cores),
        (there.cpu_limit_cores, here.cpu_limit_cores),
    )
    known = [now / before for before, now in pairs if before is not None and now is not None]
    return next((ratio for ratio in known if ratio != 1), known[0] if known else None)
