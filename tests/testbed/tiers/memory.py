"""What a run is made of: one record, which the kernel reads and writes, and its first contents.

One record of fixed size, and not arrays of the size needed: the kernel's functions then take a pointer, and compile in
a third of the time.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiled import draws, ring
from ..compiled.heap import ENTRY
from ..compiled.processor import cpu_of
from ..users import REFRESH
from .limits import MOST_CALLS, MOST_INSTANCES, MOST_SECONDS, MOST_THREADS, MOST_TIERS, MOST_USERS, QUEUE_LIMIT

NEVER = -math.inf
ROWS = 1 << 14

Memory = Any
"""A record of ``MEMORY``, with its fields as attributes inside the kernel."""

REQUEST = np.dtype(
    [
        ("arrived", np.float64),
        ("begun", np.float64, (MOST_TIERS,)),  # when it passed the gate of each tier
        ("waits", np.float64),  # since when its first tier waits for what it calls, negative before
        ("instance", np.int64),  # of the replicated tier
        ("tier", np.int64),  # in which it is
        ("step", np.int64),  # the one to start next there
    ],
    align=True,
)
GATE = np.dtype(
    [
        ("size", np.int64),
        ("in_use", np.int64),
        ("queue", np.int64, (ring.HEAD + MOST_THREADS + QUEUE_LIMIT,)),  # those before it
    ],
    align=True,
)
TIER = np.dtype(
    [
        # random times: mu (NEVER: there is none), factor, stream
        ("compute_mu", np.float64),
        ("wait_mu", np.float64),
        ("compute_factor", np.float64),
        ("wait_factor", np.float64),
        ("compute", np.int64, (draws.ROW,)),
        ("wait", np.int64, (draws.ROW,)),
    ],
    align=True,
)
MEMORY = np.dtype(
    [
        ("now", np.float64),
        ("order", np.int64),  # of what was scheduled last
        # users: those there are, those there should be, how often they were counted, and when next
        ("present", np.int64),
        ("wanted", np.int64),
        ("refreshes", np.int64),
        ("refresh_time", np.float64),
        ("refresh_order", np.int64),
        ("think_rate", np.float64),
        ("think", np.int64, (draws.ROW,)),
        ("thinking", ENTRY, (MOST_USERS + 1,)),  # when each one's think time ends
        ("shape", np.int64, (int(MOST_SECONDS / REFRESH) + 2,)),  # how many there should be, by count
        ("requests", REQUEST, (MOST_USERS,)),
        ("free", np.int64, (MOST_USERS,)),  # numbers of requests that nobody uses
        ("unused", np.int64),  # how many these are
        # the chain
        ("depth", np.int64),
        ("tiers", TIER, (MOST_TIERS,)),
        ("sigma", np.float64),
        ("gates", GATE, (MOST_TIERS, MOST_INSTANCES)),
        ("cpus", cpu_of(MOST_CALLS), (MOST_TIERS, MOST_INSTANCES)),
        ("waiting", ENTRY, (MOST_CALLS + 1,)),  # when each one's wait ends
        # the tier that has instances, the first or the second: built so far, and those that get requests, oldest first
        ("replicated", np.int64),
        ("built", np.int64),
        ("rotation", np.int64, (MOST_INSTANCES,)),
        ("rotating", np.int64),
        ("turn", np.int64),
        # long requests: their share, and by what their work in the first tier is multiplied with n in flight
        ("long_share", np.float64),
        ("longer", np.float64, (MOST_THREADS + 1,)),
        ("kinds", np.int64, (draws.ROW,)),
        # the lock: who holds it (-1: nobody), and for how many seconds with n waiting
        ("locks", np.bool_),
        ("holder", np.int64),
        ("behind", np.int64, (ring.HEAD + MOST_THREADS,)),
        ("release_time", np.float64),
        ("release_order", np.int64),
        ("holds", np.float64, (MOST_THREADS + 1,)),
        # pauses: seconds with n in flight, and those who go on after one
        ("pause_time", np.float64),
        ("pause_order", np.int64),
        ("resume_time", np.float64),
        ("resume_order", np.int64),
        ("pauses", np.float64, (MOST_THREADS + 1,)),
        ("stopped", np.int64, (ring.HEAD + MOST_THREADS,)),
        # finished requests since the rows were read, s: arrival, begin (negative: turned away), end, number of the
        # instance, begin in each further tier, begin of the first tier's wait (negative: none)
        ("recorded", np.int64),
        ("rows", np.float64, (ROWS, 4 + MOST_TIERS)),
    ],
    align=True,
)


@dataclass(frozen=True)
class Tier:
    """Means of log-normal times, ms; 0: there is none. Each is drawn from the stream of its service and place."""

    service: str
    compute_ms: float
    wait_ms: float
    compute_place: str
    wait_place: str


def first(
    tiers: Sequence[Tier],
    seed: int,
    seconds: float,
    users: Callable[[float], float],
    think_s: float,
    sigma: float,
) -> Memory:
    """At second 0, before the first user comes, without instances; the first tier is to have them. ``users``: how many
    there should be, by second."""
    m = np.zeros(1, dtype=MEMORY)[0]
    for name in ("release_time", "pause_time", "resume_time"):
        m[name] = math.inf
    counts = int(seconds / REFRESH) + 2
    m["shape"][:counts] = [round(users(REFRESH * count)) for count in range(counts)]
    m["think_rate"] = 1.0 / think_s
    m["think"] = draws.words(seed, "users", "think")
    m["free"], m["unused"] = np.arange(MOST_USERS), MOST_USERS
    m["holder"] = -1
    variance = math.log1p(sigma * sigma)
    m["sigma"] = math.sqrt(variance)
    m["depth"] = len(tiers)
    m["cpus"]["ready_time"] = math.inf
    for record, tier in zip(m["tiers"], tiers, strict=False):
        record["compute_mu"], record["wait_mu"] = _mu(tier.compute_ms, variance), _mu(tier.wait_ms, variance)
        record["compute_factor"] = record["wait_factor"] = 1.0
        record["compute"] = draws.words(seed, tier.service, tier.compute_place)
        record["wait"] = draws.words(seed, tier.service, tier.wait_place)
    return m


def _mu(mean_ms: float, variance: float) -> float:
    """Of the log-normal time, as in ``distributions.LogNormal``."""
    return math.log(mean_ms / 1e3) - variance / 2.0 if mean_ms else NEVER
