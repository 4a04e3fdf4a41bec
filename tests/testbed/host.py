"""A host whose cores are shared by the instances on it."""

from __future__ import annotations

from typing import Protocol


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
    """

    def __init__(self, name: str, cores: float) -> None:
        if not cores > 0:
            raise ValueError(f"build host {name!r}: cores must be > 0, got {cores}")
        self.name = name
        self.cores = cores
        self.share = 1.0
        self._wanted: dict[Guest, float] = {}

    def wants(self, guest: Guest, cores: float) -> float:
        """Takes note of what a guest wants from now on, slows the others down or speeds them up, returns the share."""
        if self._wanted.get(guest) == cores:
            return self.share
        self._wanted[guest] = cores
        share = min(1.0, self.cores / max(sum(self._wanted.values()), 1e-9))
        if share != self.share:
            self.share = share
            for other in self._wanted:
                if other is not guest:
                    other.set_share(share)
        return share
