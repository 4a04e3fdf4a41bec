"""Call trees as arrays: nodes with stages, stages with calls; and the pairs of services that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .application import Application, Call

NODE = np.dtype([("service", np.int64), ("stages", np.int64), ("count", np.int64)])
"""``count`` stages from ``stages`` on."""
STAGE = np.dtype([("calls", np.int64), ("count", np.int64)])
CALL = np.dtype([("node", np.int64), ("pair", np.int64), ("slot", np.int64), ("whole", np.int64), ("part", np.float64)])
"""``whole`` calls always, one more with probability ``part``, over connections ``slot`` of the caller's containers."""


@dataclass(frozen=True)
class Graph:
    nodes: NDArray[Any]
    stages: NDArray[Any]
    calls: NDArray[Any]
    roots: list[int]
    """Node of each root."""
    pairs: list[tuple[int, int]]
    """(upstream, downstream) by service index, in the order in which the trees name them."""
    slots: list[int]
    """By pair: which of its upstream service's pairs it is."""

    @property
    def width(self) -> int:
        """The most pairs that one service is upstream of, at least 1."""
        return max(self.slots, default=0) + 1


def flatten(application: Application) -> Graph:
    index = {service.name: i for i, service in enumerate(application.services)}
    nodes: list[tuple[int, int, int]] = []
    stages: list[tuple[int, int]] = []
    calls: list[tuple[int, int, int, int, float]] = []
    pairs: dict[tuple[int, int], int] = {}
    slots: list[int] = []
    fanout = [0] * len(index)

    def pair_of(upstream: int, downstream: int) -> int:
        if (upstream, downstream) not in pairs:
            pairs[upstream, downstream] = len(pairs)
            slots.append(fanout[upstream])
            fanout[upstream] += 1
        return pairs[upstream, downstream]

    def add(call: Call) -> int:
        """Calls of a stage stand side by side, so those below come first."""
        service = index[call.service]
        own: list[tuple[int, int]] = []
        for stage in call.stages:
            rows = []
            for below in stage:
                pair = pair_of(service, index[below.service])
                whole = int(below.calls)
                rows.append((add(below), pair, slots[pair], whole, below.calls - whole))
            own.append((len(calls), len(rows)))
            calls.extend(rows)
        nodes.append((service, len(stages), len(own)))
        stages.extend(own)
        return len(nodes) - 1

    roots = [add(root.tree) for root in application.roots]
    return Graph(
        np.array(nodes, dtype=NODE),
        np.array(stages, dtype=STAGE),
        np.array(calls, dtype=CALL),
        roots,
        list(pairs),
        slots,
    )
