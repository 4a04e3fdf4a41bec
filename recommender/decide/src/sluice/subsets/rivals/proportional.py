"""Real-time dynamic subsetting, in the manner of Uber (2022): a client that sends more has more connections.

k_i = quota x own calls / all calls, at least 1, at most N. The formula is not public; this follows Microns' account of
it (7.1): connections in proportion to workloads, for a balanced workload. Clients choose in a random order. Each takes
the backends with the least work so far, and random ones among equals.
"""

from __future__ import annotations

import numpy as np

from sluice.subsets.chance import draws, seed, shuffled
from sluice.subsets.connections import Connections, connections
from sluice.subsets.fleet import Fleet, Floats, Ints
from sluice.subsets.quotas import bounded


def proportional(upstream: Fleet, downstream: Fleet, sent: Floats, size: int, quota: int) -> Connections:
    """`size` is not used."""
    above, below = len(upstream), len(downstream)
    sizes = bounded(sent, np.full(above, 1), np.full(above, below), quota)
    work = np.zeros(below)
    chosen: list[Ints] = [np.empty(0, dtype=np.int64)] * above
    for client in shuffled(seed(upstream.service, downstream.service), above).tolist():
        drawn = draws(seed(upstream.service, downstream.service, upstream.names[client]), below)
        chosen[client] = np.lexsort((drawn, np.round(work, 9)))[: sizes[client]].astype(np.int64)
        work[chosen[client]] += sent[client] / sizes[client]
    return connections(chosen)
