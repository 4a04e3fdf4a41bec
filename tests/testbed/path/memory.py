"""The record of a run over a path, and its first contents (as ``single.memory``)."""

import math
from typing import Any

import numpy as np

from ..compiled import draws, ring
from ..compiled.heap import ENTRY
from ..compiled.processor import build, cpu_of, rates
from ..single.scenario import MOST_USERS
from ..users import REFRESH
from .scenario import MOST_INSTANCES, MOST_SECONDS, MOST_SIZE, PathScenario

FRONT, CALLER, CALLEE, OPERATION = "front", "caller", "callee", "GET /"
THREADS, CONNECTIONS = "caller.threads", "caller.connections"
QUEUE_LIMIT = 10_000
MOST_CALLS = MOST_INSTANCES * MOST_SIZE
ROWS = 1 << 14

Memory = Any
"""A record of ``MEMORY``, with its fields as attributes inside the kernel."""

REQUEST = np.dtype(
    [("arrived", np.float64), ("begun", np.float64), ("connected", np.float64), ("instance", np.int64)], align=True
)
INSTANCE = np.dtype(
    [
        ("cpu", cpu_of(MOST_SIZE)),
        ("threads", np.int64),  # their number
        ("threads_in_use", np.int64),
        ("queue", np.int64, (ring.HEAD + QUEUE_LIMIT,)),  # those before the threads
        ("connections", np.int64),
        ("connections_in_use", np.int64),
        ("behind", np.int64, (ring.HEAD + MOST_SIZE,)),  # those with a thread that wait for a connection
    ],
    align=True,
)
MEMORY = np.dtype(
    [
        ("now", np.float64),
        ("order", np.int64),
        ("present", np.int64),
        ("wanted", np.int64),
        ("refreshes", np.int64),
        ("refresh_time", np.float64),
        ("refresh_order", np.int64),
        ("think_rate", np.float64),
        ("thinking", ENTRY, (MOST_USERS + 1,)),
        ("shape", np.int64, (int(MOST_SECONDS / REFRESH) + 2,)),
        ("requests", REQUEST, (MOST_USERS,)),
        ("free", np.int64, (ring.HEAD + MOST_USERS,)),
        ("instances", INSTANCE, (MOST_INSTANCES,)),
        ("built", np.int64),
        ("rotation", np.int64, (MOST_INSTANCES,)),  # those that get requests, oldest first
        ("rotating", np.int64),
        ("turn", np.int64),
        ("callee", cpu_of(MOST_CALLS)),
        ("waiting", ENTRY, (MOST_CALLS + 1,)),
        ("sigma", np.float64),
        ("caller_mu", np.float64),
        ("callee_mu", np.float64),
        ("wait_mu", np.float64),
        ("think", np.int64, (draws.ROW,)),
        ("caller_compute", np.int64, (draws.ROW,)),
        ("callee_compute", np.int64, (draws.ROW,)),
        ("wait", np.int64, (draws.ROW,)),
        # finished requests since the rows were read: arrival, thread taken (negative: turned away), end, connection
        # taken (negative: none), s, and the number of the instance
        ("recorded", np.int64),
        ("rows", np.float64, (ROWS, 5)),
    ],
    align=True,
)


def first(scenario: PathScenario, seed: int) -> Memory:
    """At second 0, before the first user comes and before the first caller is built."""
    callee = scenario.callee
    m = np.zeros(1, dtype=MEMORY)[0]
    share = scenario.shape
    looks = range(int(scenario.seconds / REFRESH) + 2)
    m["shape"][: len(looks)] = [round(share(REFRESH * look) * scenario.users) for look in looks]
    m["think_rate"] = 1.0 / scenario.think_s
    ring.fill(m["free"])
    build(m["callee"], callee.cores, rates(MOST_CALLS, callee.cores, callee.contention, callee.crosstalk, None))
    variance = math.log1p(scenario.sigma * scenario.sigma)
    m["sigma"] = math.sqrt(variance)
    for name, ms in (
        ("caller_mu", scenario.caller.compute_ms),
        ("callee_mu", callee.compute_ms),
        ("wait_mu", callee.wait_ms),
    ):
        m[name] = math.log(ms / 1e3) - variance / 2.0
    m["think"] = draws.words(seed, "users", "think")
    m["caller_compute"] = draws.words(seed, CALLER, f"{OPERATION}/0")
    m["callee_compute"] = draws.words(seed, CALLEE, f"{OPERATION}/0")
    m["wait"] = draws.words(seed, CALLEE, f"{OPERATION}/1")
    return m
