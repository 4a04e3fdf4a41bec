"""The soft resources of a run, as whoever tunes them sees them."""

from .application import Application
from .pool import Pool
from .service import Service
from .spans import CLIENT, SERVER
from .topology import PoolSpec


class AdjustablePool:
    """A pool that can be read and resized during a run; with replicas, the same size for each of them."""

    def __init__(self, service: Service, side: str, peer: str, spec: PoolSpec, bounded: Service) -> None:
        self.service = service.spec.name
        self.side = side
        self.peer = peer
        self.name = spec.name or ""
        self.min = spec.min
        self.max = spec.max
        self.bounded = bounded
        """The service whose work the pool bounds: its own, or the callee."""
        self._of = service
        self.history = [(0.0, self.size)]
        """(second, size) of every change, the first size included."""

    @property
    def size(self) -> int:
        return self._of.connection_sizes[self.peer] if self.peer else self._of.thread_size

    @property
    def count(self) -> int:
        """How many pools of this size there are: one a replica, and one per replica of the callee where it is so."""
        return len(self._of.instances) * (self._of.callee_replicas[self.peer] if self.peer else 1)

    @property
    def in_use(self) -> int:
        """Sum over the replicas in rotation, as ``queued`` and ``turned_away``."""
        return sum(pool.in_use for pool in self._pools())

    @property
    def queued(self) -> int:
        return sum(pool.queued for pool in self._pools())

    @property
    def turned_away(self) -> int:
        return sum(pool.turned_away for pool in self._pools())

    def check(self, size: int) -> None:
        """Raises ValueError when the size is not an integer in [min, max]."""
        if not isinstance(size, int) or not self.min <= size <= self.max:
            raise ValueError(f"size must be an integer from {self.min} to {self.max}, got {size}")

    def resize(self, size: int) -> None:
        """Raises ValueError when the size is not an integer in [min, max]."""
        self.check(size)
        if self.peer:
            self._of.resize_connections(self.peer, size)
        else:
            self._of.resize_threads(size)
        self.history.append((self._of.now, size))

    def _pools(self) -> list[Pool]:
        instances = self._of.instances
        if self.peer:
            return [instance.connections[self.peer] for instance in instances]
        return [instance.threads for instance in instances if instance.threads is not None]


def adjustable(application: Application) -> list[AdjustablePool]:
    """Every pool that has a name."""
    results = []
    for service in application.services.values():
        spec = service.spec
        if spec.threads and spec.threads.name:
            results.append(AdjustablePool(service, SERVER, "", spec.threads, service))
        for peer, pool in spec.connections.items():
            if pool.name:
                results.append(AdjustablePool(service, CLIENT, peer, pool, application.services[peer]))
    return results
