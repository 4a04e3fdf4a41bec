"""Tells a callee that slows from another service: evidence is carried along the wait for callees. Pure.

A request that stays n / X (Little's law) waits w of that for what it calls, and takes own = n / X - w itself. Where w
becomes w' and own stays, the service is the same: what completed X a second with n in flight completes it with

    n' = n + X (w' - w),  n' / n = (own + w') / (own + w).

So all evidence is moved there, and back when the callee recovers; nothing is forgotten. Worked: 4 in flight complete
1,270 a second, and wait 1.2 ms each. The callee takes 12 ms: 17.7 will be in flight. A pool of 10 is full, completes
700, and is known to be too small.

A wait that may be an effect of the pool is not carried, and evidence stays where it is:
- The wait grows after the pool did, or falls after the pool shrank: the callee may be at its limit. Carried, each
  growth would make the next one look right.
- The own time changes the same way: the service computes more, and its CLIENT spans wait for its CPU too.
- Instances have just come or gone (`windows/callees.py`).
- The evidence expects what the second shows: it has the wait at that concurrency in it.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple


class Waits(NamedTuple):
    """Of a request, s. evidence_s: the wait that the evidence is for. mean_s, own_s: wait and own time in the newest
    seconds. carried_ms: start of the bucket from which the evidence was last carried, -1 before the first time."""

    evidence_s: float
    mean_s: float
    own_s: float
    carried_ms: int = -1


class Stay(NamedTuple):
    """The mean wait and own time of a request in one second, s. ours: 1 where the pool has just grown, -1 where it has
    just shrunk, else 0."""

    wait_s: float
    own_s: float
    completions: float
    seconds: float
    ours: int = 0


# The means are of so many newest seconds and completions. A wait that is off by so many standard errors, and by this
# part of the stay, is another one.
MEMORY_S, MEMORY_COMPLETIONS = 10.0, 1_000.0
JUMP_ERRORS, JUMP = 4.0, 0.05
# Evidence is carried once the stay is off by this part. An own time that is off by this factor is another one.
CARRIED, OTHER = 0.03, 1.15
# So long after that sizes are those of carried evidence.
JUST_CARRIED_MS = 60_000


def moved(waits: Waits | None, stay: Stay) -> tuple[Waits, float]:
    """The waits after a second, and by how many s per request the evidence is to be carried, 0 for not at all."""
    if waits is None:
        return Waits(stay.wait_s, stay.wait_s, stay.own_s), 0.0
    whole_s = stay.wait_s + stay.own_s
    off = abs(stay.wait_s - waits.mean_s)
    error = max(stay.wait_s, waits.mean_s) / sqrt(max(stay.completions, 1.0))
    part = min(1.0, stay.seconds / MEMORY_S, stay.completions / MEMORY_COMPLETIONS)
    if off > JUMP_ERRORS * error and off > JUMP * whole_s:
        part = 1.0
    mean_s = waits.mean_s + part * (stay.wait_s - waits.mean_s)
    own_s = waits.own_s + part * (stay.own_s - waits.own_s)
    by_s = mean_s - waits.evidence_s
    if abs(by_s) <= CARRIED * whole_s:
        return waits._replace(mean_s=mean_s, own_s=own_s), 0.0
    own = stay.own_s / waits.own_s if waits.own_s > 0 else 1.0
    same = own <= OTHER if by_s > 0 else own >= 1 / OTHER
    return Waits(mean_s, mean_s, own_s, waits.carried_ms), by_s if same and by_s * stay.ours <= 0 else 0.0


def just_carried(waits: Waits | None, now_ms: int) -> bool:
    """Whether the evidence was carried in the minute before `now_ms`."""
    return waits is not None and waits.carried_ms >= 0 and now_ms - waits.carried_ms < JUST_CARRIED_MS
