"""The limit of a backend: all its callers together must not hold more than its capacity (design section 4).

    sum over callers of instances x max(last target, last size read back) <= capacity

A size that is right for one caller alone does not consider the others: a service that scales out to twice the replicas
doubles its connections without any change of a pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.model.keys import PoolKey


@dataclass(frozen=True)
class BackendDemand:
    """The demand of one pool on a backend, per instance.

    wanted: the size that would be best for it. reserved: the size that it has, or was given and may have by now.
    instances: of its service, the larger of the reported and the seen number.
    """

    wanted: int
    reserved: int
    instances: int


@dataclass(frozen=True)
class Ceiling:
    """The largest size that one pool may have per instance, and the arithmetic in words."""

    size: int
    text: str


def ceilings(backend: str, capacity: int, demands: Mapping[PoolKey, BackendDemand]) -> dict[PoolKey, Ceiling]:
    """A ceiling for each pool that leads to the backend.

    Where all can have the sizes that they want and hold, instances share the rest. Where they cannot, each gets one per
    instance, and beyond that the same share of its wanted size. Growth waits until others' smaller sizes are read back:
    a pool can grow only into capacity that none holds.

    Worked, capacity 100: a wants 20 and b 30 in 4 and 2 instances, 140 in all. One each is 6; 94 are left for 4 x 19 +
    2 x 29 = 134: a 1 + 13.33, b 1 + 20.34 -> 14 and 21, 98 used; the 2 left are one more for b: 14 and 22. While a
    still holds 20, and b 10, all 100 are reserved: b stays at 10. Once a is read back with 14, 24 are free, and b may
    have 22.
    """
    in_use = sum(demand.instances * demand.reserved for demand in demands.values())
    goals = _goals(capacity, demands)
    growth = sum(max(0, goals[key] - demand.reserved) * demand.instances for key, demand in demands.items())
    part = min(1.0, max(0, capacity - in_use) / growth) if growth else 0.0
    limits = {}
    for key, demand in demands.items():
        more = goals[key] - demand.reserved
        size = goals[key] if more <= 0 else demand.reserved + int(more * part)
        text = f"{backend} takes {capacity} in all, its callers hold {in_use}: {size} for each of {demand.instances}"
        limits[key] = Ceiling(max(1, size), f"{text} instances")
    return limits


def _goals(capacity: int, demands: Mapping[PoolKey, BackendDemand]) -> dict[PoolKey, int]:
    most = {key: max(demand.wanted, demand.reserved) for key, demand in demands.items()}
    instances = sum(demand.instances for demand in demands.values())
    if sum(demands[key].instances * size for key, size in most.items()) > capacity:
        most = {key: demand.wanted for key, demand in demands.items()}
    total = sum(demands[key].instances * size for key, size in most.items())
    if total <= capacity:
        return {key: size + (capacity - total) // max(1, instances) for key, size in most.items()}
    return _shares(capacity, demands)


def _shares(capacity: int, demands: Mapping[PoolKey, BackendDemand]) -> dict[PoolKey, int]:
    """The shares, rounded down. The rest goes to the largest remainders that it is enough for."""
    total = sum(demand.instances * demand.wanted for demand in demands.values())
    least = sum(demand.instances for demand in demands.values())
    share = max(0, capacity - least) / max(1, total - least)
    exact = {key: 1 + (demand.wanted - 1) * share for key, demand in demands.items()}
    given = {key: int(size) for key, size in exact.items()}
    left = capacity - sum(demands[key].instances * size for key, size in given.items())
    for key in sorted(exact, key=lambda key: (given[key] - exact[key], key)):
        if given[key] < exact[key] and demands[key].instances <= left:
            given[key] += 1
            left -= demands[key].instances
    return given
