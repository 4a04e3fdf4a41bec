"""What a run on the compiled engine is made of: one record, which the kernel reads and writes, and its first contents.

One record of fixed size, and not arrays of the size needed: the kernel's functions then take a pointer, and compile in
a third of the time.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import draws, ring
from ..compiled.heap import ENTRY
from ..compiled.processor import build, cpu_of, rates
from ..users import REFRESH
from .names import DEPENDENCY, SERVICE, place
from .scenario import MOST_SECONDS, MOST_THREADS, MOST_USERS, Scenario

NEVER = -math.inf
QUEUE_LIMIT = 10_000
IN_FLIGHT = MOST_THREADS + QUEUE_LIMIT
ROWS = 1 << 14
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Memory = Any
"""A record of ``MEMORY``, with its fields as attributes inside the kernel."""

REQUEST = np.dtype([("arrived", np.float64), ("begun", np.float64), ("step", np.int64)])

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
        ("thinking", ENTRY, (MOST_USERS + 1,)),  # when each one's think time ends
        ("shape", np.int64, (int(MOST_SECONDS / REFRESH) + 2,)),  # how many there should be, by count
        # requests and threads
        ("requests", REQUEST, (IN_FLIGHT,)),
        ("free", np.int64, (ring.HEAD + IN_FLIGHT,)),  # numbers of requests that nobody uses
        ("queue", np.int64, (ring.HEAD + IN_FLIGHT,)),  # those before the pool
        ("size", np.int64),
        ("in_use", np.int64),
        ("cpu", cpu_of(MOST_THREADS)),
        # random times: mu (NEVER: there is none), factor, stream
        ("sigma", np.float64),
        ("compute_mu", np.float64),
        ("wait_mu", np.float64),
        ("call_mu", np.float64),
        ("compute_factor", np.float64),
        ("wait_factor", np.float64),
        ("think", np.int64, (draws.ROW,)),
        ("compute", np.int64, (draws.ROW,)),
        ("wait", np.int64, (draws.ROW,)),
        ("call", np.int64, (draws.ROW,)),
        ("waiting", ENTRY, (MOST_THREADS + 1,)),  # when each one's wait, or call of the dependency, ends
        # the lock: who holds it (-1: nobody), and for how many seconds with n waiting
        ("locks", np.bool_),
        ("holder", np.int64),
        ("behind", np.int64, (ring.HEAD + IN_FLIGHT,)),
        ("release_time", np.float64),
        ("release_order", np.int64),
        ("holds", np.float64, (MOST_THREADS + 1,)),
        # the dependency
        ("slots", np.int64),
        ("slots_in_use", np.int64),
        ("before", np.int64, (ring.HEAD + IN_FLIGHT,)),  # those that wait for a slot
        # pauses: seconds with n in flight, and those who go on after one
        ("pause_time", np.float64),
        ("pause_order", np.int64),
        ("resume_time", np.float64),
        ("resume_order", np.int64),
        ("pauses", np.float64, (MOST_THREADS + 1,)),
        ("stopped", np.int64, (ring.HEAD + IN_FLIGHT,)),
        # finished requests since the rows were read: arrival, begin (negative: turned away), end, s
        ("recorded", np.int64),
        ("rows", np.float64, (ROWS, 3)),
    ],
    align=True,
)


def first(scenario: Scenario, seed: int) -> Memory:
    """At second 0, before the first user comes."""
    service, dependency = scenario.service, scenario.dependency
    convoy, pauses = scenario.convoy, scenario.pauses
    m = np.zeros(1, dtype=MEMORY)[0]
    for name in ("release_time", "pause_time", "resume_time"):
        m[name] = math.inf
    users = shape(scenario)
    m["shape"][: len(users)] = users
    m["think_rate"] = 1.0 / scenario.think_s
    ring.fill(m["free"])
    m["size"] = service.threads
    build(m["cpu"], service.cores, rates_of(scenario, service.cores))
    variance = math.log1p(service.sigma * service.sigma)
    m["sigma"] = math.sqrt(variance)
    m["compute_mu"], m["wait_mu"] = _mu(service.compute_ms, variance), _mu(service.wait_ms, variance)
    m["call_mu"] = _mu(dependency.ms, variance)
    m["compute_factor"] = m["wait_factor"] = 1.0
    m["think"] = draws.words(seed, "users", "think")
    m["compute"] = draws.words(seed, SERVICE, place(0))
    m["wait"] = draws.words(seed, SERVICE, place(2 if convoy else 1))
    m["call"] = draws.words(seed, DEPENDENCY, place(0))
    m["holder"], m["slots"] = -1, dependency.slots
    if convoy:
        m["locks"], m["holds"] = True, _table(convoy.seconds)
    if pauses:
        m["pause_time"], m["pauses"] = 1.0, _table(pauses.seconds)
    return m


def shape(scenario: Scenario) -> list[int]:
    """How many users there should be, each time that they are counted."""
    share = scenario.shape
    return [round(share(REFRESH * count) * scenario.users) for count in range(int(scenario.seconds / REFRESH) + 2)]


def rates_of(scenario: Scenario, cores: float) -> Floats:
    service = scenario.service
    return rates(MOST_THREADS, cores, service.contention, service.crosstalk, scenario.cliff)


def _table(seconds: Callable[[int], float]) -> Floats:
    return np.array([seconds(n) for n in range(MOST_THREADS + 1)])


def _mu(mean_ms: float, variance: float) -> float:
    """Of the log-normal time, as in ``distributions.LogNormal``."""
    return math.log(mean_ms / 1e3) - variance / 2.0 if mean_ms else NEVER
