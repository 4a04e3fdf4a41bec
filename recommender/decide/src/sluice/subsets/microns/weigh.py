"""Weights, beyond the paper: shares of calls that come closest to the optimal loads for given connections.

Iterative proportional fitting (Deming and Stephan, 1940). In turns, it scales flows so that each downstream container
gets its optimum, and so that each upstream container sends what it sends. Where both can hold, it ends at the most even
shares. Where the connections do not allow it, it ends at the nearest ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sluice.fast.compiled import compiled
from sluice.subsets.connections import Connections
from sluice.subsets.fleet import Floats, Ints

# The least share of a connection, relative to an even one: each connection should get calls, and EDS weights are whole
# numbers.
LEAST = 0.002
CLOSE = 0.002
SWEEPS = 60
# A fixed part of the loads makes each sweep move less.
MORE_SWEEPS = 600


def weighed(connections: Connections, sent: Floats, target: Floats, fixed: Floats | None = None) -> Connections:
    """Connections with shares such that the loads come close to `target`, (D,). `sent`: (U,) of the upstream
    containers. fixed: (D,) a part of the loads that nothing moves. All in calls per second.

    With a fixed part a sweep is a step of expectation maximization: it raises sum target ln(load), until load / target
    is the same for all containers that an upstream one sends calls to. So a target that is out of reach raises the
    loads of all others alike.
    """
    total = float(sent.sum())
    if total <= 0:
        return connections
    there = np.zeros(len(target)) if fixed is None else fixed
    wanted = target * ((total + float(there.sum())) / max(float(target.sum()), 1e-300))
    share = connections.share.copy()
    sweeps = SWEEPS if fixed is None else MORE_SWEEPS
    _fit(connections.start, connections.to, sent, wanted, there, share, LEAST, CLOSE, sweeps)
    return replace(connections, share=share)


@compiled
def _fit(
    start: Ints,
    to: Ints,
    sent: Floats,
    wanted: Floats,
    fixed: Floats,
    share: Floats,
    least: float,
    close: float,
    sweeps: int,
) -> None:
    load = np.empty(len(wanted))
    worth = wanted.sum() / len(wanted)
    for _ in range(sweeps):
        load[:] = fixed
        for above in range(len(sent)):
            for at in range(start[above], start[above + 1]):
                load[to[at]] += sent[above] * share[at]
        worst = 0.0
        for index in range(len(wanted)):
            worst = max(worst, abs(load[index] - wanted[index]))
            load[index] = min(max(wanted[index] / load[index], 1e-3), 1e3) if load[index] > 0 else 1.0
        if worst <= close * worth:
            return
        for above in range(len(sent)):
            begin, end = start[above], start[above + 1]
            total = 0.0
            for at in range(begin, end):
                share[at] *= load[to[at]]
                total += share[at]
            floor, rest, free = least / max(end - begin, 1), 1.0, 0.0
            for at in range(begin, end):
                share[at] /= total
                if share[at] <= floor:
                    share[at] = floor
                    rest -= floor
                else:
                    free += share[at]
            for at in range(begin, end):
                if share[at] > floor:
                    share[at] *= rest / free
