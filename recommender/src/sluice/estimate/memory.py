"""Curves that were seen before, and what they say about a pool that has just been scaled. Pure.

The best size follows the CPU limit: ConScale measures Q_lower doubled when one core becomes two (IPDPS'20, Fig. 7),
Sora 10 threads at 2 cores and 30 at 4 (Middleware'23, Fig. 3 a and c). A curve is therefore remembered for what it
stood on, and gives a first size when the pool stands on that again. It is a prior, never data: no old sample joins a
new curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from sluice.estimate.curve import per_level
from sluice.estimate.model import Estimate
from sluice.estimate.samples import Floats, Samples

# The threshold decides what is good, and with it the best size (Sora, Fig. 3 a and b): a curve judged by one that is
# further off than this share says nothing.
SAME_THRESHOLD = 0.10


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
