"""A host whose cores are shared by the instances on it, and by tenants that are outside the model."""

from __future__ import annotations

import math
from typing import Protocol

EXPONENT = math.log(5.0) / math.log(2.5)
"""As in ``mesh/calibration.py``, which says what it rests on: at 60 % work takes 5 times as long."""


def slowdown(others: tuple[float, float, float]) -> float:
    """How many times as long work takes beside tenants that use so much of CPU, memory bandwidth and network (0..1).

    ``prod (1 - u) ** -(EXPONENT / 3)``, the mesh's law with equal weights. Worked: (0.5, 0.4, 0.3) gives 2.49.
    """
    return math.prod(1.0 - use for use in others) ** (-EXPONENT / len(others))


class Guest(Protocol):
    """A CPU that lives on a host."""

    def set_share(self, share: float) -> None:
        """From now on it gets this part of the cores that it wants, 0..1."""
        ...


class Host:
    """Processor sharing between instances: when they want more cores than there are, each gets the same part of them.

    An instance with n runnable threads and a limit of c cores wants min(n, c). With the sum D of what all want, each
    gets the share min(1, cores / D) of its own, so all slow down by the same factor (equal CPU weights per core
    wanted, as the kernel's fair scheduler gives containers whose shares are in proportion to their limits).

    Worked: 4 cores, one instance wants 4 and one wants 2: share 4/6 = 0.667; they get 2.67 and 1.33 cores.

    Other tenants take their cores first, and slow the rest by what they use of caches, memory bandwidth and network.
    Such a slow thread occupies its core all the while.
    """

    def __init__(self, name: str, cores: float, others: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        if not cores > 0:
            raise ValueError(f"build host {name!r}: cores must be > 0, got {cores}")
        if not all(0 <= use < 1 for use in others):
            raise ValueError(f"build host {name!r}: what others use must be >= 0 and < 1, got {others}")
        self.name = name
        self.cores = cores
        self.others = others
        self.speed = 1.0 / slowdown(others)
        """Of work on it, relative to a host without other tenants."""
        self.share = 1.0
        self._free = cores * (1.0 - others[0])
        self._wanted: dict[Guest, float] = {}

    def wants(self, guest: Guest, cores: float) -> float:
        """Takes note of what a guest wants from now on, slows the others down or speeds them up, returns the share."""
        if self._wanted.get(guest) == cores:
            return self.share
        self._wanted[guest] = cores
        share = min(1.0, self._free / max(sum(self._wanted.values()), 1e-9))
        if share != self.share:
            self.share = share
            for other in self._wanted:
                if other is not guest:
                    other.set_share(share)
        return share
