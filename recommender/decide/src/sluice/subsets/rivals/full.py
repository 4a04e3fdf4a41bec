"""Fully connected: every upstream container to every downstream one."""

from __future__ import annotations

import numpy as np

from sluice.subsets.connections import Connections
from sluice.subsets.fleet import Fleet, Floats


def full(upstream: Fleet, downstream: Fleet, sent: Floats, size: int, quota: int) -> Connections:
    """All connections have equal shares. `size` and `quota` are not used."""
    above, below = len(upstream), len(downstream)
    start = np.arange(above + 1, dtype=np.int64) * below
    to = np.tile(np.arange(below, dtype=np.int64), above)
    return Connections(start, to, np.full(above * below, 1 / below))
