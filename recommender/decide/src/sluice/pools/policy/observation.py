"""What a control period knows of one pool that its state does not: what came, and what binds it now."""

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
    """Windows that came since the last observation, oldest first, each array of shape (n,); rates of one instance.

    size, cores: in force in each bucket, NaN where it is not known, or where instances differed; cores 0 where nobody
    ever told them. errors: of the completions, those that failed; zeros where it is not given. known_ms: up to when
    spans that ended are known, by the pool's own newest data: what had not ended by then is missing.
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
    """What binds the pool from outside.

    least..most   its bounds, and what its backend's capacity leaves to it
    may_look      whether a size may be tried: one pool at a time on a path
    quiet         why nothing may change now, "" when it may
    paused        who paused the pool and why, "" when nobody did
    set_to        the size that they hold it at; None: the one in force
    why           which backend binds it, and the arithmetic; "" where only its bounds do
    own_most      the pool's own bound, where its backend's capacity leaves less; None: `most`
    horizon_ms    how long the busiest stretch counts (need.py)
    callee        what its requests wait for instead of for it, and how that is known; "" where they do not
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
    """As targets tell beside their sizes: means over the instances that told within 20 s, each under its size of now.

    busy        threads or connections in use, of one instance, over its readings since it was told last (1 to 15 s)
    waiting     callers that wait for one, of one instance, likewise; None where no target tells it
    full_share  of the readings of the newest 30 s, those in which busy was at the size, 0..1
    at_ms       of the newest report, Unix time of receipt
    busy_most, waiting_most  at one reading of one instance
    readings    behind full_share, of all instances
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
    """sizes: read back from each target that reported within a minute, by its instance; 1 at least, None is unbounded.

    cores, version: of one instance of the service, as told; 0 and "" while nobody did. slo_s: the threshold that
    judges its completions. named: by a published model, where one is chosen for the pool, or no size is known by which
    the belief could tell when the pool was full; None: the belief decides. demand: None where there is no new one.
    replicas: of the service, None while nobody told. occupancy: None where no target tells it.
    read_ms: when a target told its size last, None where nobody keeps that.
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
        """In force on all targets; None where they differ, have no limit, or there are none."""
        sizes = set(self.sizes.values())
        return sizes.pop() if len(sizes) == 1 else None
