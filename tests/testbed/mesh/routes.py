"""A solution as routes: for every container and pair the connections that it calls over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..distributions import stream
from .calibration import Floats
from .fleet import Fleet
from .graph import Graph
from .memory import CONNECTION, ROUTE
from .solution import Solution


@dataclass(frozen=True)
class Routes:
    table: NDArray[Any]
    """Of ``ROUTE``, shape (containers, width)."""
    connections: NDArray[Any]
    """Of ``CONNECTION``; those of one container and pair stand side by side, in the order of the file."""
    ends: Floats
    """Connections that each container holds, on either side; those of weight 0 too."""


def routes(solution: Solution, fleet: Fleet, graph: Graph, seed: int) -> Routes:
    """Raises ValueError where it does not fit the application: a pair or container that is not there, none to call."""
    by_name = {(fleet.services[u], fleet.services[d]): pair for pair, (u, d) in enumerate(graph.pairs)}
    held: dict[tuple[int, int], dict[int, float]] = {}
    ends = np.zeros(len(fleet))
    for pair in solution.pairs:
        which = by_name.get((pair.upstream, pair.downstream))
        if which is None:
            raise ValueError(f"pair {pair.upstream} -> {pair.downstream}: no call tree has it")
        upstream, downstream = graph.pairs[which]
        for connection in pair.connections:
            caller, other = _at(fleet, connection.from_, upstream), _at(fleet, connection.to, downstream)
            targets = held.setdefault((caller, graph.slots[which]), {})
            if other in targets:
                raise ValueError(f"connection {connection.from_} -> {connection.to} stands twice")
            targets[other] = connection.weight
            ends[caller] += 1
            ends[other] += 1
    table = np.zeros((len(fleet), graph.width), dtype=ROUTE)
    results: list[tuple[int, float, float, float, int]] = []
    for (upstream, downstream), slot in zip(graph.pairs, graph.slots, strict=True):
        for caller in fleet.members[upstream]:
            targets = {to: weight for to, weight in held.get((caller, slot), {}).items() if weight > 0}
            if not targets:
                raise ValueError(
                    f"container {fleet.names[caller]} has no connection to {fleet.services[downstream]}, which it calls"
                )
            table[caller, slot] = len(results), len(targets)
            total, so_far = sum(targets.values()), 0.0
            phase = stream(seed, "mesh", "phase", fleet.names[caller], str(slot))
            for to, weight in targets.items():
                so_far += weight / total
                results.append((to, total / weight, phase.random() * total / weight, so_far, 0))
    return Routes(table, np.array(results, dtype=CONNECTION), ends)


def _at(fleet: Fleet, name: str, service: int) -> int:
    number = fleet.number.get(name)
    if number is None or number not in fleet.members[service]:
        raise ValueError(f"container {name!r} is not one of {fleet.services[service]} that take calls")
    return number
