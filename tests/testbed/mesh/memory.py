"""The arrays of a run, and their first contents. Times in s, work in s of a whole core."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import draws
from ..compiled.heap import ENTRY
from .application import Application
from .graph import Graph

MOST_JOBS = 1024
"""Visits of a container that compute at a time; who comes beyond fails at once."""
MOST_VISITS = 1 << 18
"""In flight at a time; who comes beyond fails at once."""
ROWS = 1 << 14
BINS, FINEST, STEP = 1000, -8.0, 0.02
"""Histograms of ln ms: bin i is [FINEST + i STEP, FINEST + (i + 1) STEP), the outer ones open: 0.3 us to 160 s."""

ROUND_ROBIN, LEAST_REQUEST = range(2)
ARRIVED, ENDED, ROOT, FAILED, OWN = range(5)
"""Columns of rows: s, s, number of the root, 0 or 1, s in which the container that the user called computed."""

STATE = np.dtype(
    [
        ("now", np.float64),
        ("order", np.int64),
        ("routing", np.int64),
        ("free", np.int64),
        ("recorded", np.int64),
    ]
)
CONTAINER = np.dtype(
    [
        ("service", np.int64),
        ("speed", np.float64),  # s of work per s, of all its visits together
        ("virtual", np.float64),  # work that each visit present since the last idle time has had
        ("since", np.float64),
        ("busy", np.float64),  # s in which it computed
        ("ready", np.float64),  # when the first visit's segment ends; infinite where it is idle
    ]
)
TALLY = np.dtype(
    [("visits", np.int64), ("own", np.float64), ("own2", np.float64), ("whole", np.float64), ("whole2", np.float64)]
)
"""Visits that ended, and the sums of ln ms and its square: of the own time, without what calls took, and the whole."""
VISIT = np.dtype(
    [
        ("node", np.int64),
        ("parent", np.int64),  # -1: a request of a user
        ("top", np.int64),  # that request
        ("container", np.int64),
        ("connection", np.int64),  # by which it came; -1: none
        ("pair", np.int64),
        ("stage", np.int64),  # the next one
        ("pending", np.int64),  # calls
        ("failed", np.int64),  # of the request: some visit of it
        ("root", np.int64),
        ("began", np.float64),
        ("segment", np.float64),  # work of each segment
        ("resumed", np.float64),
        ("own", np.float64),
    ]
)
ROOT_ = np.dtype([("node", np.int64), ("rate", np.float64), ("at", np.float64), ("level", np.int64)])
CONNECTION = np.dtype(
    [
        ("to", np.int64),
        ("step", np.float64),  # 1 / weight
        ("due", np.float64),  # round robin: the smallest is next
        ("until", np.float64),  # share of the route's weight up to and including it
        ("outstanding", np.int64),
    ]
)
ROUTE = np.dtype([("first", np.int64), ("count", np.int64)])


class Memory(NamedTuple):
    state: NDArray[Any]
    containers: NDArray[Any]
    jobs: NDArray[Any]  # (containers, MOST_JOBS + 1), heaps
    tree: NDArray[np.int64]  # (2 containers): the container that is ready first, at 1
    tallies: NDArray[Any]
    visits: NDArray[Any]
    free: NDArray[np.int64]
    roots: NDArray[Any]
    levels: NDArray[np.float64]  # load by second, as a share of the highest
    nodes: NDArray[Any]
    stages: NDArray[Any]
    calls: NDArray[Any]
    members: NDArray[np.int64]  # (services, containers): those that users' requests go to
    member_count: NDArray[np.int64]
    routes: NDArray[Any]  # (containers, width)
    connections: NDArray[Any]
    pairs: NDArray[np.int64]  # (pairs, BINS): own times of the visits that came over the pair
    mu: NDArray[np.float64]  # (services): of ln s of work, as sigma
    sigma: NDArray[np.float64]
    work: NDArray[np.int64]  # (services, draws.ROW)
    gaps: NDArray[np.int64]  # (roots, draws.ROW), as the two others
    kept: NDArray[np.int64]
    entry: NDArray[np.int64]
    parts: NDArray[np.int64]  # (draws.ROW)
    picks: NDArray[np.int64]
    rows: NDArray[np.float64]  # (ROWS, 5)


def first(application: Application, graph: Graph, levels: NDArray[np.float64], seed: int, most: int) -> Memory:
    """At second 0; room for ``most`` containers in the whole run. ``levels``: load by second, 1.0 the roots' rates."""
    room = 1 << (max(2, most) - 1).bit_length()
    services = [service.name for service in application.services]
    mu, sigma = work_of(application)
    top = float(levels.max())
    m = Memory(
        state=np.zeros(1, dtype=STATE),
        containers=np.zeros(room, dtype=CONTAINER),
        jobs=np.zeros((room, MOST_JOBS + 1), dtype=ENTRY),
        tree=np.zeros(2 * room, dtype=np.int64),
        tallies=np.zeros(room, dtype=TALLY),
        visits=np.zeros(MOST_VISITS, dtype=VISIT),
        free=np.arange(MOST_VISITS - 1, -1, -1),
        roots=np.zeros(len(graph.roots), dtype=ROOT_),
        levels=levels / top,
        nodes=graph.nodes,
        stages=graph.stages,
        calls=graph.calls,
        members=np.zeros((len(services), room), dtype=np.int64),
        member_count=np.zeros(len(services), dtype=np.int64),
        routes=np.zeros((room, graph.width), dtype=ROUTE),
        connections=np.zeros(0, dtype=CONNECTION),
        pairs=np.zeros((max(1, len(graph.pairs)), BINS), dtype=np.int64),
        mu=mu,
        sigma=sigma,
        work=np.stack([draws.words(seed, "mesh", name, "work") for name in services]),
        gaps=np.stack([draws.words(seed, "mesh", root.name, "gaps") for root in application.roots]),
        kept=np.stack([draws.words(seed, "mesh", root.name, "kept") for root in application.roots]),
        entry=np.stack([draws.words(seed, "mesh", root.name, "entry") for root in application.roots]),
        parts=draws.words(seed, "mesh", "parts"),
        picks=draws.words(seed, "mesh", "picks"),
        rows=np.zeros((ROWS, 5)),
    )
    m.state["free"] = MOST_VISITS
    m.visits["connection"] = -1
    m.containers["ready"] = math.inf
    m.tree[room:] = np.arange(room)
    for i in range(room - 1, 0, -1):
        m.tree[i] = m.tree[2 * i]
    m.roots["node"] = graph.roots
    m.roots["rate"] = [root.rate_per_s * top for root in application.roots]
    return m


def work_of(application: Application) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """mu and sigma of ln s of work by service: s^2 = ln(1 + cv^2), mu = ln mean - s^2 / 2."""
    natures = [application.nature(service.name) for service in application.services]
    variance = [math.log1p(nature.cv * nature.cv) for nature in natures]
    mu = [math.log(nature.work_ms / 1e3) - v / 2.0 for nature, v in zip(natures, variance, strict=True)]
    return np.array(mu), np.array([math.sqrt(v) for v in variance])
