"""Random schedules of faults: the same seed gives the same schedule."""

import random

from sluice_kit.faults.kinds import (
    ALL,
    ALLOCATE,
    ASKS,
    CLOCKS,
    FOLDERS,
    KINDS,
    OF_DISKS,
    OF_PROCESSES,
    PROCESSES,
    Fault,
)

SHORTEST_S, LONGEST_S = 2.0, 40.0


def schedule(seed: int, count: int) -> list[Fault]:
    """Faults, one after another. Each kind is as likely as any other; seconds are even in their logarithm."""
    rng = random.Random(seed)
    return [_fault(rng) for _ in range(count)]


def _fault(rng: random.Random) -> Fault:
    kind = rng.choice(KINDS)
    seconds = round(SHORTEST_S * (LONGEST_S / SHORTEST_S) ** rng.random(), 1)
    if kind in ("kill", "no memory"):
        return Fault(kind, rng.choice(PROCESSES if kind == "kill" else ALLOCATE))
    if kind == "all killed":
        return Fault(kind, ALL)
    if kind in CLOCKS:
        return Fault(kind, rng.choice((ALL, *PROCESSES)), seconds)
    if kind in OF_PROCESSES:
        return Fault(kind, rng.choice(PROCESSES), seconds)
    if kind in OF_DISKS:
        return Fault(kind, rng.choice(tuple(FOLDERS)), seconds)
    return Fault(kind, *rng.choice(tuple((client, seconds, port) for client, port in ASKS)))
