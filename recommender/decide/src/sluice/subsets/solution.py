"""The result of a strategy, and its predicted latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sluice.subsets.connections import Connections


@dataclass(frozen=True, eq=False)
class Solution:
    """subsets: one for each pair of the problem, in its order. iterations: of the outer loop, 0 where there is none.

    converged: whether each of its loops ended by itself. notes: what did not go as it should, for people.
    """

    strategy: str
    subsets: tuple[Connections, ...]
    iterations: int = 0
    converged: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Predicted:
    """Latency at the problem's percentile in ms: of each pair, of each root, and the workload-weighted mean of
    roots."""

    pairs: tuple[float, ...]
    roots: Mapping[str, float] = field(default_factory=dict)
    mean_ms: float = 0.0
    converged: bool = True
