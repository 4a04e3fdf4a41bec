"""The containers of a service that take part in subsets, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sluice.subsets.application import Host, Service

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The zone of a host that names none.
NO_ZONE = -1


@dataclass(frozen=True, eq=False)
class Fleet:
    """n containers that are not drained, ordered by name.

    contention: (n, 3) utilization of their hosts: CPU, memory bandwidth, network; ratios. zone: (n,) the number of the
    zone. capacity_per_s: (n,), inf where there is no limit.
    """

    service: str
    names: tuple[str, ...]
    contention: Floats
    zone: Ints
    capacity_per_s: Floats

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}


def zones(hosts: Iterable[Host]) -> dict[str, int]:
    """Numbers of zones. They do not depend on the order of hosts."""
    numbers = {name: number for number, name in enumerate(sorted({host.zone for host in hosts} - {""}))}
    return {"": NO_ZONE, **numbers}


def fleet(service: Service, hosts: Mapping[str, Host], numbers: Mapping[str, int]) -> Fleet:
    """Builds a fleet. `numbers`: as of `zones`."""
    containers = sorted(
        (container for container in service.containers if not container.drained), key=lambda container: container.name
    )
    on = [hosts[container.host] for container in containers]
    contention = [(host.cpu, host.memory_bandwidth, host.network) for host in on]
    return Fleet(
        service.name,
        tuple(container.name for container in containers),
        np.array(contention, dtype=np.float64).reshape(-1, 3),
        np.array([numbers[host.zone] for host in on], dtype=np.int64),
        np.array([container.capacity_per_s for container in containers], dtype=np.float64),
    )
