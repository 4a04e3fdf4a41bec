"""The observation: new data of one pool, and the constraints on it now."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from sluice.model.demand import Demand
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.estimate.model import Estimate


@dataclass(frozen=True)
class Buckets:
    """Windows since the last observation, oldest first. Each array has the shape (n,); rates are of one instance.

    - size, cores: in force in each bucket. NaN where they are unknown or instances differed; cores are 0 where nobody
      ever reported them.
    - errors: the completions that failed; zeros where they are not given.
    - known_ms: up to this time the pool's newest data has the spans that ended. A span that ended later is missing.
    """

    start_ms: Ints
    concurrency: Floats
    completions: Floats
    size: Floats
    cores: Floats
    bucket_s: float
    errors: Floats = field(default_factory=lambda: np.zeros(0))
    known_ms: float = inf

    def __post_init__(self) -> None:
        if len(self.errors) != len(self.start_ms):
            object.__setattr__(self, "errors", np.zeros(len(self.start_ms)))

    def __len__(self) -> int:
        return len(self.start_ms)

    def take(self, keep: slice | NDArray[np.bool_]) -> Buckets:
        return Buckets(
            self.start_ms[keep],
            self.concurrency[keep],
            self.completions[keep],
            self.size[keep],
            self.cores[keep],
            self.bucket_s,
            self.errors[keep],
            self.known_ms,
        )


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
    """Occupancy as targets report it beside their sizes: means over the instances that reported within 20 s, each under
    its present size.

    busy        threads or connections in use, of one instance, over its readings since the last report (1 to 15 s)
    waiting     callers that wait for one, of one instance, over the same readings; None where no target reports it
    full_share  part of the readings of the newest 30 s in which busy was at the size, 0..1
    at_ms       of the newest report, Unix time of receipt
    busy_most, waiting_most  the largest value in one reading of one instance
    readings    number of readings behind full_share, of all instances
    """

    busy: float
    waiting: float | None
    full_share: float
    at_ms: int
    busy_most: int = 0
    waiting_most: int | None = None
    readings: int = 0


@dataclass(frozen=True)
class Observation:
    """The data that a decision reads of a pool at one time.

    - sizes: read back from each target that reported within a minute, by instance; at least 1, None is unbounded.
    - cores, version: of one instance of the service, as reported; 0 and "" while nobody reported them.
    - slo_s: the threshold for its completions.
    - named: the estimate of a published model. It is given where the pool's configuration chooses a model, or where no
      size is known from which the belief could tell when the pool was full. None: the belief decides.
    - demand: None where there is no new one. replicas: of the service, None while unreported.
    - occupancy: None where no target reports it.
    - read_ms: when a target last reported its size, None where the caller does not track that.
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

    @property
    def size(self) -> int | None:
        """The size in force on all targets. None where sizes differ, a target has no limit, or there are no targets."""
        sizes = set(self.sizes.values())
        return sizes.pop() if len(sizes) == 1 else None
