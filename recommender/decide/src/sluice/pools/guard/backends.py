"""The backend-wide limit: what all callers of a backend hold together must not exceed what it takes (design section 4).

    sum over callers of instances x size <= capacity

No size that is right for each caller alone knows of the others: a service that scales out to twice the replicas doubles
its connections without any pool having changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.core.keys import PoolKey


@dataclass(frozen=True)
class Demand:
    """What one pool towards a backend asks for: `size` per instance, in `instances` of its service."""

    size: int
    instances: int


@dataclass(frozen=True)
class Ceiling:
    """The most that one pool may have per instance, and the arithmetic in words."""

    size: int
    text: str


def ceilings(backend: str, capacity: int, demands: Mapping[PoolKey, Demand]) -> dict[PoolKey, Ceiling]:
    """A ceiling for each pool when together they ask for more than `capacity`; else none.

    Each gets one per instance, and beyond that the same share of what it asks for, rounded down; what rounding leaves
    goes to the largest remainders that it is enough for. Worked, capacity 100: a asks 4 x 20, b asks 2 x 30. One each
    is 6; 94 are left for 4 x 19 + 2 x 29 = 134: a 1 + 13.33, b 1 + 20.34 -> 14 and 21, 98 used; the 2 left are one
    more for b: 14 and 22, 100 used.
    """
    total = sum(demand.instances * demand.size for demand in demands.values())
    if total <= capacity:
        return {}
    least = sum(demand.instances for demand in demands.values())
    share = max(0, capacity - least) / max(1, total - least)
    exact = {key: 1 + (demand.size - 1) * share for key, demand in demands.items()}
    given = {key: int(size) for key, size in exact.items()}
    left = capacity - sum(demands[key].instances * size for key, size in given.items())
    for key in sorted(exact, key=lambda key: (given[key] - exact[key], key)):
        if given[key] < exact[key] and demands[key].instances <= left:
            given[key] += 1
            left -= demands[key].instances
    words = f"{backend} takes {capacity} in all, its callers ask for {total}"
    if left < 0:
        words += ", more than it takes even at 1 each"
    return {
        key: Ceiling(size, f"{words}: {size} for each of {demands[key].instances} instances")
        for key, size in given.items()
        if size < demands[key].size
    }
