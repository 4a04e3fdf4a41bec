"""What a pool was asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Demand:
    """What one instance was asked for in a minute, up to `until_ms`: a new one every 10 s.

    asked_per_s: calls of it that ended, as its callers' CLIENT spans tell, or its own where they tell of none.
    in_time: the part of them within the threshold, 0..1; None where no caller tells: a wait for a thread shows in no
    span of its own. in_flight: of the pool, by its own spans, mean. waiting: what is in flight at those who wait for
    it, beyond all that is accounted for: of a server pool, in callers' CLIENT spans beyond its own; of a client pool,
    in the service's SERVER spans beyond its CLIENT spans. None where nobody tells. of_threads: hardware is advised by
    it, as it is not of connections.
    """

    until_ms: int
    asked_per_s: float
    in_time: float | None
    in_flight: float = 0.0
    waiting: float | None = None
    of_threads: bool = True
