"""The observation: new data of one pool, and the constraints on it now."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, nan

import numpy as np
from numpy.typing import NDArray

from sluice.model.demand import Demand
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.estimate.model import Estimate
from sluice.pools.sampling.verdict import Sampling

# From this share of a target's newest readings on, the target reports a full pool, if there are so many readings or
# callers wait.
REPORTED_FULL, FULL_READINGS = 0.9, 3


def _no_values() -> Floats:
    return np.zeros(0)


@lru_cache(maxsize=64)
def _constant(value: float, count: int) -> Floats:
    """Shape (count,), shared and read-only."""
    constant = np.full(count, value)
    constant.flags.writeable = False
    return constant


# Values of a bucket without one.
DEFAULTS = (("size", nan), ("cores", 0.0), ("errors", 0.0), ("waiting", nan), ("good", nan), ("callers", nan))


@dataclass(frozen=True)
class Buckets:
    """Complete buckets of a pool, oldest first. Each array has the shape (n,); values are of one instance.

    - concurrency, completions: 0 in a bucket in which nothing was in flight, or completed. errors: the completions that
      failed.
    - size, cores: in force in each bucket. NaN where they are unknown or instances differed; cores are 0 where nobody
      ever reported them.
    - waiting: requests that wait for callees, part of the concurrency. NaN where unknown (`windows/callees.py`).
    - good: the completions without an error within the SLO, by the spans that judge the pool; callers: calls in flight,
      those that wait for the pool among them. NaN where unknown (`windows/good.py`).
    - known_ms: up to this time the pool's newest data has the spans that ended. A span that ended later is missing.
    - instances: the number present, busy or not. None once sizes are known, since a decision does not need it.

    Without values, `size`, `waiting`, `good` and `callers` are NaN, and `cores` and `errors` are 0, in each bucket.
    """

    start_ms: Ints
    concurrency: Floats
    completions: Floats
    bucket_s: float
    size: Floats = field(default_factory=_no_values)
    cores: Floats = field(default_factory=_no_values)
    errors: Floats = field(default_factory=_no_values)
    waiting: Floats = field(default_factory=_no_values)
    known_ms: float = inf
    instances: Ints | None = None
    good: Floats = field(default_factory=_no_values)
    callers: Floats = field(default_factory=_no_values)

    def __post_init__(self) -> None:
        for name, value in DEFAULTS:
            if len(getattr(self, name)) == 0:
                object.__setattr__(self, name, _constant(value, len(self.start_ms)))

    def __len__(self) -> int:
        return len(self.start_ms)

    @property
    def bucket_ms(self) -> int:
        return round(1_000 * self.bucket_s)

    @property
    def in_time(self) -> float:
        """The part of the completions without an error that is within the SLO, 0..1. NaN where it is known of less than
        a third of the buckets."""
        known = ~np.isnan(self.good)
        done = float(np.maximum(self.completions - self.errors, 0.0)[known].sum())
        return float(self.good[known].sum()) / done if done > 0 and 3 * known.sum() >= len(known) else nan

    @property
    def most_instances(self) -> int:
        """The largest number of instances at one time; 1 where it is unknown."""
        return 1 if self.instances is None else int(self.instances.max(initial=1))

    @property
    def all_completions(self) -> int:
        """Completions of all instances; of one where their number is unknown."""
        return round(float(self.completions.sum() if self.instances is None else self.completions @ self.instances))

    def take(self, keep: slice | NDArray[np.bool_]) -> Buckets:
        return Buckets(
            self.start_ms[keep],
            self.concurrency[keep],
            self.completions[keep],
            self.bucket_s,
            self.size[keep],
            self.cores[keep],
            self.errors[keep],
            self.waiting[keep],
            self.known_ms,
            None if self.instances is None else self.instances[keep],
            self.good[keep],
            self.callers[keep],
        )

    def since(self, ms: int) -> Buckets:
        """The buckets that start later than `ms`, Unix time."""
        return self.take(slice(int(np.searchsorted(self.start_ms, ms, side="right")), None))


NO_BUCKETS = Buckets(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), 0.1)


@dataclass(frozen=True)
class Constraints:
    """The limits of the pool from outside.

    least..most   its bounds, narrowed to what its backend's capacity leaves to it
    may_look      whether the pool may take a look: one pool at a time on a path
    quiet         why nothing may change now, "" when it may
    paused        who paused the pool and why, "" when nobody did
    set_to        the size at which the pauser holds it; None: the one in force
    why           which backend limits it, with the arithmetic; "" where only its bounds do
    own_most      the pool's own bound, where its backend's capacity leaves less; None: `most`
    horizon_ms    how long the busiest stretch counts (need.py)
    callee        the callee that its requests wait for, with the evidence; "" where they do not wait
    """

    least: int = 1
    most: int = 1_000
    may_look: bool = True
    quiet: str = ""
    paused: str = ""
    why: str = ""
    set_to: int | None = None
    own_most: int | None = None
    horizon_ms: int = 86_400_000
    callee: str = ""


@dataclass(frozen=True)
class Occupancy:
    """Occupancy as targets report it beside their sizes, or as metrics have it: means over the instances that reported
    within 20 s (a metric: within its interval), each under its present size.

    busy        threads or connections in use, of one instance, over its readings since the last report (1 to 15 s)
    waiting     callers that wait for one, of one instance, over the same readings; None where no target reports it
    full_share  part of the readings of the newest 30 s in which busy was at the size, 0..1; of an instance whose newest
                report has three readings or more, all of them full, it is 1
    at_ms       of the newest report, Unix time of receipt
    busy_most, waiting_most  the largest value in one reading of one instance
    readings    number of readings behind full_share, of all instances
    coarse      readings of some instance are more than 15 s apart: they do not say when the pool was full
    since_ms    of the first reading of the newest reports that were full throughout, and of all readings where the
                newest report was not; the newest such time of all instances
    busy_30_s   as busy, over all readings behind full_share
    queued      callers that wait, of the instance where the fewest do, by a counter of the time that they waited: a
                mean over the time between two readings, and no moment. 0 where an instance has no such counter
    """

    busy: float
    waiting: float | None
    full_share: float
    at_ms: int
    busy_most: int = 0
    waiting_most: int | None = None
    readings: int = 0
    coarse: bool = False
    since_ms: int = 0
    busy_30_s: float = 0.0
    queued: float = 0.0

    @property
    def full(self) -> bool:
        """Whether the pool is reported as full. Readings are moments, so a full one needs callers that wait, or others:
        4 of 4 in use at one moment is no full pool. Coarse readings do not count."""
        sure = self.readings >= FULL_READINGS or (self.waiting_most or 0) > 0
        return not self.coarse and sure and self.full_share >= REPORTED_FULL


@dataclass(frozen=True)
class Observation:
    """The data that a decision reads of a pool at one time.

    - sizes: read back from each target that reported within a minute, by instance; at least 1, None is unbounded.
    - cores, version: of one instance of the service, as reported; 0 and "" while nobody reported them.
    - slo_s: the threshold for its completions; infinite while it is not known.
    - named: the estimate of a published model. It is given where the pool's configuration chooses a model, or where no
      size is known from which the belief could tell when the pool was full. None: the belief decides.
    - demand: None where there is no new one. replicas: of the service, None while unreported.
    - occupancy: None where no target reports it, and no metric has it.
    - read_ms: when a target last reported its size, None where the caller does not track that.
    - sampling: of the spans behind the buckets; None where they are all there.
    - sampled: of a sample that can be scaled, the buckets with their sizes, from the last stretch on (scaled.py).
    - from_metrics: the sizes are those of metrics. No actuator reports the pool, so none can apply a size.
    - by_hand: no actuator of the pool writes: people set its size, or nobody does.
    - may_apply: decisions on this threshold may be applied.
    """

    sizes: dict[str, int | None]
    buckets: Buckets
    cores: float
    slo_s: float
    version: str = ""
    constraints: Constraints = Constraints()
    named: Estimate | None = None
    demand: Demand | None = None
    replicas: int | None = None
    occupancy: Occupancy | None = None
    read_ms: int | None = None
    from_metrics: bool = False
    by_hand: bool = False
    may_apply: bool = True
    sampling: Sampling | None = None
    sampled: Buckets | None = None

    @property
    def size(self) -> int | None:
        """The size in force on all targets. None where sizes differ, a target has no limit, or there are no targets."""
        sizes = set(self.sizes.values())
        return sizes.pop() if len(sizes) == 1 else None
