"""A service as it runs: its replicas, and the sizes of their pools, which may change during a run."""

from collections.abc import Callable

from . import topology as spec
from .cpu import Cpu
from .distributions import stream
from .engine import Engine
from .host import Host
from .pool import Pool
from .spans import Span

Emit = Callable[[Span], None]


class Instance:
    """One replica of a service: its CPU, its threads, its connections to each callee."""

    __slots__ = ("connections", "cpu", "emit", "engine", "host", "name", "new_id", "threads", "waits")

    def __init__(self, name: str, engine: Engine, cpu: Cpu, seed: int, emit: Emit, host: Host | None = None) -> None:
        self.name = name
        self.host = host
        self.engine = engine
        self.emit = emit
        self.new_id = stream(seed, name, "ids").getrandbits
        self.cpu = cpu
        self.threads: Pool | None = None
        self.connections: dict[str, Pool] = {}
        self.waits = 1.0


class Service:
    """Replicas take requests in turns.

    Raises:
        ValueError: fewer than one.
    """

    def __init__(self, service: spec.ServiceSpec, engine: Engine, seed: int, emit: Emit, hosts: list[Host]) -> None:
        self.spec = service
        self.instances: list[Instance] = []
        self.cores = service.cores
        self.thread_size = service.threads.size if service.threads else 0
        self.connection_sizes = {peer: pool.size for peer, pool in service.connections.items()}
        self.callee_replicas = dict.fromkeys(service.connections, 1)
        """By callee, of those pools whose size counts per replica of the callee; else 1."""
        self.choose: Callable[[str], str | None] | None = None
        """The replica for a call of a replica, by name; None: the next in turn."""
        self.waits = 1.0
        """How many times as long as specified its operations wait."""
        self._engine = engine
        self._seed = seed
        self._emit = emit
        self._hosts = hosts
        self._built = 0
        self._turn = 0
        if service.replicas < 1:
            raise ValueError(f"run {service.name} with {service.replicas} replicas: must be >= 1")
        self.instances.extend(self._build() for _ in range(service.replicas))

    @property
    def now(self) -> float:
        return self._engine.now

    def pick(self, caller: "Instance | None" = None) -> "Instance":
        """The replica that `choose` names for the caller, else the one whose turn it is. caller: None for a user."""
        if self.choose is not None and caller is not None:
            chosen = self.choose(caller.name)
            for instance in self.instances:
                if instance.name == chosen:
                    return instance
        turn = self._turn if self._turn < len(self.instances) else 0
        self._turn = turn + 1
        return self.instances[turn]

    def slow(self, waits: float) -> None:
        """Operations that begin to wait from now on wait `waits` times as long as specified."""
        self.waits = waits
        for instance in self.instances:
            instance.waits = waits

    def resize_threads(self, size: int) -> None:
        for instance in self.instances:
            if instance.threads is not None:
                instance.threads.resize(size)
        self.thread_size = size

    def resize_connections(self, peer: str, size: int) -> None:
        self.connection_sizes[peer] = size
        for instance in self.instances:
            instance.connections[peer].resize(self._connections(peer))

    def callee_has(self, peer: str, replicas: int) -> None:
        """The replicas of a callee: pools that count per replica are as much larger."""
        if peer in self.connection_sizes and self.spec.connections[peer].per_replica:
            self.callee_replicas[peer] = replicas
            self.resize_connections(peer, self.connection_sizes[peer])

    def core_seconds(self) -> float:
        """Seconds of cores used since the start by all replicas."""
        return sum(instance.cpu.used() for instance in self.instances)

    def _connections(self, peer: str) -> int:
        return self.connection_sizes[peer] * self.callee_replicas[peer]

    def _build(self) -> "Instance":
        service = self.spec
        host = self._hosts[self._built % len(self._hosts)] if self._hosts else None
        self._built += 1
        cpu = Cpu(self._engine, self.cores, service.contention, service.crosstalk, host)
        instance = Instance(f"{service.name}-{self._built}", self._engine, cpu, self._seed, self._emit, host)
        instance.waits = self.waits
        if service.threads:
            instance.threads = Pool(self.thread_size, service.threads.queue_limit)
        instance.connections = {
            peer: Pool(self._connections(peer), pool.queue_limit) for peer, pool in service.connections.items()
        }
        return instance
