"""What an application is made of: services, their hardware and pools, and the steps of their operations."""

from dataclasses import dataclass, field

from .distributions import Constant, Distribution


@dataclass(frozen=True, slots=True)
class Compute:
    """Needs the CPU for a random amount of work, in seconds on a free core."""

    work: Distribution


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits for something outside the model (disk, lock, timer), holding its thread but no CPU."""

    time: Distribution


@dataclass(frozen=True, slots=True)
class Call:
    """Calls an operation of another service and waits for the response."""

    service: str
    operation: str


@dataclass(frozen=True, slots=True)
class Parallel:
    """Makes several calls at once and goes on when all of them have returned."""

    calls: tuple[Call, ...]


Step = Compute | Wait | Call | Parallel


@dataclass(frozen=True, slots=True)
class PoolSpec:
    size: int
    queue_limit: int
    name: str | None = None
    """Under which the pool can be read and resized; None: it is part of the service and stays as it is."""
    min: int = 1
    max: int = 256
    per_replica: bool = False
    """For connections: the size counts per replica of the callee, as where each replica has a pool of its own."""


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    name: str
    operations: dict[str, tuple[Step, ...]]
    """By operation, such as ``GET /cart``; for a database the statement's verb, such as ``SELECT``."""
    cores: float = 1.0
    contention: float = 0.0
    crosstalk: float = 0.0
    """See ``cpu.total_rate``."""
    threads: PoolSpec | None = None
    """None: a thread for every request, without bound (goroutines, an event loop)."""
    connections: dict[str, PoolSpec] = field(default_factory=dict)
    """By callee; a callee that is not named is called without a bound."""
    database: str = ""
    """Name of the database inside; set: callers speak SQL, and the service makes no spans of its own."""
    replicas: int = 1
    hosts: tuple[str, ...] = ()
    """Names of hosts whose cores the replicas share with others: replicas are placed on them by turns. Empty: a host
    of their own, which never runs short."""


@dataclass(frozen=True, slots=True)
class HostSpec:
    name: str
    cores: float
    others: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """What tenants outside the model use of its CPU, memory bandwidth and network, 0..1: see ``host.slowdown``."""


@dataclass(frozen=True, slots=True)
class Topology:
    services: tuple[ServiceSpec, ...]
    entry: str
    """The service that users call."""
    network: Distribution = field(default_factory=lambda: Constant(0.0002))
    """One way between any two services, and between a user and the entry."""
    hosts: tuple[HostSpec, ...] = ()
