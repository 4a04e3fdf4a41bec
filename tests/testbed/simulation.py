"""One run: an application, its users, and what comes out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .application import Application
from .distributions import Distribution
from .engine import Engine
from .pool import Pool
from .spans import CLIENT, SERVER, Span
from .topology import PoolSpec, Topology
from .users import ClosedLoop, Outcome


@dataclass(frozen=True, slots=True)
class Scenario:
    """An application with its load: everything that a run depends on but the seed."""

    topology: Topology
    mix: Mapping[str, float]
    """Weight of each operation of the entry."""
    think: Distribution
    users: int
    """The most there will be at a time."""
    shape: Callable[[float], float]
    """Share of ``users`` that is there, by second."""


class AdjustablePool:
    """A pool that can be read and resized during a run; with replicas, the same size for each of them."""

    def __init__(self, service: str, side: str, peer: str, spec: PoolSpec, pools: list[Pool]) -> None:
        self.service = service
        self.side = side
        self.peer = peer
        self.name = spec.name or ""
        self.min = spec.min
        self.max = spec.max
        self._pools = pools

    @property
    def size(self) -> int:
        return self._pools[0].size

    @property
    def in_use(self) -> int:
        """Sum over the replicas, as ``queued`` and ``turned_away``."""
        return sum(pool.in_use for pool in self._pools)

    @property
    def queued(self) -> int:
        return sum(pool.queued for pool in self._pools)

    @property
    def turned_away(self) -> int:
        return sum(pool.turned_away for pool in self._pools)

    def resize(self, size: int) -> None:
        """Raises ValueError when the size lies outside [min, max]."""
        if not self.min <= size <= self.max:
            raise ValueError(f"size must be an integer from {self.min} to {self.max}, got {size}")
        for pool in self._pools:
            pool.resize(size)


class Simulation:
    """Deterministic: the same scenario and seed give the same spans, resizes at the same times provided."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        on_span: Callable[[Span], None],
        on_outcome: Outcome = lambda time, latency, failed: None,
    ) -> None:
        self.engine = Engine()
        self.application = Application(scenario.topology, self.engine, seed, on_span)
        self.users = ClosedLoop(
            self.application, scenario.mix, scenario.think, scenario.users, scenario.shape, seed, on_outcome
        )
        self.pools = {pool.name: pool for pool in _adjustable(self.application)}

    def run_until(self, second: float) -> int:
        """Returns the number of events that ran."""
        return self.engine.run_until(second)


def _adjustable(application: Application) -> list[AdjustablePool]:
    found = []
    for service in application.topology.services:
        instances = application.instances[service.name]
        if service.threads and service.threads.name:
            threads = [instance.threads for instance in instances if instance.threads]
            found.append(AdjustablePool(service.name, SERVER, "", service.threads, threads))
        for peer, spec in service.connections.items():
            if spec.name:
                pools = [instance.connections[peer] for instance in instances]
                found.append(AdjustablePool(service.name, CLIENT, peer, spec, pools))
    return found
