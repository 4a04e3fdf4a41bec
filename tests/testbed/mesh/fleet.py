"""The containers of a run, by number, on their hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from . import calibration
from .application import Application, Host
from .calibration import Floats


class Fleet:
    def __init__(self, application: Application) -> None:
        self.services = [service.name for service in application.services]
        self.hosts = [host.name for host in application.hosts]
        self.host_cores = application.testbed.host_cores
        natures = [application.nature(name) for name in self.services]
        self._cores = np.array([nature.cores for nature in natures])
        self._memory = np.array([nature.memory_mb for nature in natures])
        self._weights = np.array([[n.cpu, n.memory_bandwidth, n.network] for n in natures])
        self.names: list[str] = []
        self.number: dict[str, int] = {}
        service: list[int] = []
        host: list[int] = []
        self.members: list[list[int]] = [[] for _ in self.services]
        """By service: the containers that take calls."""
        self.others: Floats = np.zeros((len(self.hosts), 3))
        """What other tenants use by host: CPU, memory bandwidth, network."""
        self.contend(application.testbed.others or {host.name: host for host in application.hosts})
        for of, item in enumerate(application.services):
            for container in item.containers:
                self.number[container.name] = len(self.names)
                self.members[of].append(len(self.names))
                self.names.append(container.name)
                service.append(of)
                host.append(self.hosts.index(container.host))
        self.service: NDArray[np.int64] = np.array(service, dtype=np.int64)
        """By container, as ``host``."""
        self.host: NDArray[np.int64] = np.array(host, dtype=np.int64)
        self._all = [list(of_service) for of_service in self.members]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def cores(self) -> Floats:
        """Limit by container."""
        return self._cores[self.service]

    @property
    def weights(self) -> Floats:
        """How far CPU, memory bandwidth and network of its host slow each container, (containers, 3)."""
        return self._weights[self.service]

    @property
    def memory_mb(self) -> Floats:
        return self._memory[self.service]

    def keep(self, counts: Sequence[int]) -> None:
        """From now on the first ``counts`` containers of each service take calls. The others end what they have.

        Raises:
            ValueError: a count is below 1, or above the number of containers.
        """
        for service, every, count in zip(self.services, self._all, counts, strict=True):
            if not 1 <= count <= len(every):
                raise ValueError(f"{count} containers of {service}; legal: 1 to {len(every)}")
        self.members = [every[:count] for every, count in zip(self._all, counts, strict=True)]

    def contend(self, others: Mapping[str, Host]) -> None:
        """From now on the other tenants of the named hosts use this."""
        for name, host in others.items():
            self.others[self.hosts.index(name)] = host.cpu, host.memory_bandwidth, host.network

    def used(self, busy_s: Floats, seconds: float, ends: Floats) -> Floats:
        """Cores by container, of ``busy_s`` in ``seconds``: its limit while it computes, but for stalls, and checks."""
        checks, stalls = calibration.checks(ends, self.cores), calibration.buffers(ends, self.memory_mb)
        return self.cores * (busy_s / seconds * (1.0 - checks) * (1.0 - stalls) + checks)

    def utilization(self, used: Floats) -> Floats:
        """By host, shape (hosts, 3): that of the other tenants, with the cores ``used`` by our containers."""
        own = np.bincount(self.host, weights=used, minlength=len(self.hosts)) / self.host_cores
        result = self.others.copy()
        result[:, 0] += own
        return np.minimum(result, 1.0)

    def speeds(self, utilization: Floats, ends: Floats) -> Floats:
        """Work per second by container, s of a whole core."""
        slow = calibration.slowdown(utilization[self.host], self.weights)
        checks, stalls = calibration.checks(ends, self.cores), calibration.buffers(ends, self.memory_mb)
        speeds: Floats = self.cores * (1.0 - checks) * (1.0 - stalls) / slow
        return speeds
