"""Deterministic aperture of Twitter's Finagle: two rings over each other, with weights where slices overlap in part.

M clients have slices of u = 1 / M, N backends of r = 1 / N. A client's range is [i u + offset, i u + offset + width).
The width is k r rounded up to whole slices of clients, laps = ceil(k r / u). A backend's weight is the part of its
slice within the range. In sum every backend gets exactly the same. The offset is drawn per calling service, so that
several services do not begin at the same backend.
"""

from __future__ import annotations

import math

import numpy as np

from sluice.subsets.chance import draws, seed
from sluice.subsets.connections import Connections, connections
from sluice.subsets.fleet import Fleet, Floats, Ints

#: A smaller part of a slice is a rounding error.
NOTHING = 1e-9


def aperture(upstream: Fleet, downstream: Fleet, sent: Floats, size: int, quota: int) -> Connections:
    """`size` is the least aperture. `sent` and `quota` are not used."""
    clients, backends = len(upstream), len(downstream)
    offset = float(draws(seed(upstream.service, downstream.service), 1)[0])
    width = min(1.0, math.ceil(size * clients / backends - NOTHING) / clients)
    overlaps = [_overlaps((client / clients + offset) % 1.0, width, backends) for client in range(clients)]
    return connections([to for to, _ in overlaps], [share for _, share in overlaps])


def _overlaps(begin: float, width: float, backends: int) -> tuple[Ints, Floats]:
    """The backends within the range, each once, and the part of the range that each takes."""
    first, last = math.floor(begin * backends), math.ceil((begin + width) * backends)
    slices = np.arange(first, last)
    lower = np.maximum(slices / backends, begin)
    upper = np.minimum((slices + 1) / backends, begin + width)
    part = np.bincount(slices % backends, weights=np.maximum(upper - lower, 0.0) * backends, minlength=backends)
    to = np.flatnonzero(part > NOTHING)
    return to.astype(np.int64), part[to] / part[to].sum()
