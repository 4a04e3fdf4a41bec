"""Demand on a pool."""

from __future__ import annotations

from dataclasses import dataclass

# The seconds that a demand covers.
LASTS_S = 60


@dataclass(frozen=True)
class Demand:
    """The demand on one instance within a minute, up to `until_ms`; a new one every 10 s.

    asked_per_s: calls that ended, counted in callers' CLIENT spans, or in the pool's own spans where there are none.
    in_time: the part of them within the threshold, 0..1; None without callers' spans, since a wait for a thread shows
    in no span of the pool. in_flight: mean concurrency of the pool, by its own spans. waiting: callers' concurrency
    beyond the pool's: of a server pool, in callers' CLIENT spans beyond its own; of a client pool, in the service's
    SERVER spans beyond its CLIENT spans. None where no spans show it. of_threads: whether the pool is of threads;
    hardware advice rests on threads, not on connections.
    """

    until_ms: int
    asked_per_s: float
    in_time: float | None
    in_flight: float = 0.0
    waiting: float | None = None
    of_threads: bool = True

    @property
    def since_ms(self) -> int:
        """The start of the minute, Unix time."""
        return self.until_ms - 1_000 * LASTS_S
