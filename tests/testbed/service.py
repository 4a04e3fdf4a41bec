"""A service as it runs: its replicas, and what may change about them during a run."""

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

    __slots__ = ("connections", "cpu", "emit", "engine", "host", "name", "new_id", "threads")

    def __init__(self, name: str, engine: Engine, cpu: Cpu, seed: int, emit: Emit, host: Host | None = None) -> None:
        self.name = name
        self.host = host
        self.engine = engine
        self.emit = emit
        self.new_id = stream(seed, name, "ids").getrandbits
        self.cpu = cpu
        self.threads: Pool | None = None
        self.connections: dict[str, Pool] = {}


class Pace:
    """How much longer a service's work and waits take than its specification says: 1.0 as specified."""

    __slots__ = ("compute", "wait")

    def __init__(self) -> None:
        self.compute = 1.0
        self.wait = 1.0


class Service:
    """Replicas take requests in turns. One that is removed gets no more of them, and finishes those it has."""

    def __init__(self, service: spec.ServiceSpec, engine: Engine, seed: int, emit: Emit, hosts: list[Host]) -> None:
        self.spec = service
        self.instances: list[Instance] = []
        """Those that get requests, oldest first."""
        self.pace = Pace()
        self.cores = service.cores
        self.thread_size = service.threads.size if service.threads else 0
        self.connection_sizes = {peer: pool.size for peer, pool in service.connections.items()}
        self.callee_replicas = dict.fromkeys(service.connections, 1)
        """By callee, of those pools whose size counts per replica of the callee; else 1."""
        self._engine = engine
        self._seed = seed
        self._emit = emit
        self._hosts = hosts
        self._built = 0
        self._turn = 0
        self._gone: list[Instance] = []
        self.scale(service.replicas)

    @property
    def now(self) -> float:
        return self._engine.now

    def pick(self) -> "Instance":
        """The replica whose turn it is."""
        turn = self._turn if self._turn < len(self.instances) else 0
        self._turn = turn + 1
        return self.instances[turn]

    def scale(self, replicas: int) -> None:
        """Adds replicas, or takes the newest ones out of rotation.

        Raises:
            ValueError: fewer than one.
        """
        if replicas < 1:
            raise ValueError(f"scale {self.spec.name} to {replicas} replicas: must be >= 1")
        while len(self.instances) < replicas:
            self.instances.append(self._build())
        while len(self.instances) > replicas:
            self._gone.append(self.instances.pop())

    def set_cores(self, cores: float) -> None:
        """The CPU limit of every replica, those that drain and those to come included."""
        for instance in (*self.instances, *self._gone):
            instance.cpu.set_cores(cores)
        self.cores = cores

    def resize_threads(self, size: int) -> None:
        for instance in self.instances:
            if instance.threads is not None:
                instance.threads.resize(size)
        self.thread_size = size

    def resize_connections(self, peer: str, size: int) -> None:
        self.connection_sizes[peer] = size
        for instance in self.instances:
            instance.connections[peer].resize(self._connections(peer))

    def callee_scaled(self, peer: str, replicas: int) -> None:
        """Another number of replicas of a callee: pools that count per replica follow."""
        if peer in self.connection_sizes and self.spec.connections[peer].per_replica:
            self.callee_replicas[peer] = replicas
            self.resize_connections(peer, self.connection_sizes[peer])

    def core_seconds(self) -> float:
        """Seconds of cores used since the start by all replicas, also by those that have gone."""
        return sum(instance.cpu.used() for instance in (*self.instances, *self._gone))

    def _connections(self, peer: str) -> int:
        return self.connection_sizes[peer] * self.callee_replicas[peer]

    def _build(self) -> "Instance":
        service = self.spec
        host = self._hosts[self._built % len(self._hosts)] if self._hosts else None
        self._built += 1
        cpu = Cpu(self._engine, self.cores, service.contention, service.crosstalk, host)
        instance = Instance(f"{service.name}-{self._built}", self._engine, cpu, self._seed, self._emit, host)
        if service.threads:
            instance.threads = Pool(self.thread_size, service.threads.queue_limit)
        instance.connections = {
            peer: Pool(self._connections(peer), pool.queue_limit) for peer, pool in service.connections.items()
        }
        return instance
