"""An application as it runs: the topology turned into instances, pools, targets and steps."""

from collections.abc import Callable
from itertools import cycle

from . import topology as spec
from .conventions import client_site, server_site
from .cpu import Cpu
from .distributions import stream
from .engine import Engine
from .pool import Pool
from .request import Operation, Request, Step, Target
from .spans import Span
from .steps import CallStep, ComputeStep, WaitStep

Emit = Callable[[Span], None]


class Instance:
    """One replica of a service: its CPU, its threads, its connections to each callee."""

    __slots__ = ("connections", "cpu", "emit", "engine", "name", "new_id", "threads")

    def __init__(self, service: spec.ServiceSpec, number: int, engine: Engine, seed: int, emit: Emit) -> None:
        self.name = f"{service.name}-{number}"
        self.engine = engine
        self.emit = emit
        self.new_id = stream(seed, self.name, "ids").getrandbits
        self.cpu = Cpu(engine, service.cores, service.contention, service.crosstalk)
        self.threads = _pool(service.threads) if service.threads else None
        self.connections = {peer: _pool(pool) for peer, pool in service.connections.items()}


class Application:
    """Builds every part, and wires operations to the operations that they call.

    Raises:
        ValueError: the topology names a service or operation that it does not have, or an operation has no steps.
    """

    def __init__(self, topology: spec.Topology, engine: Engine, seed: int, emit: Emit) -> None:
        self.engine = engine
        self.topology = topology
        self._seed = seed
        self._services = {service.name: service for service in topology.services}
        self.instances: dict[str, list[Instance]] = {
            service.name: [Instance(service, n + 1, engine, seed, emit) for n in range(service.replicas)]
            for service in topology.services
        }
        self._next = {name: cycle(instances).__next__ for name, instances in self.instances.items()}
        self._operations = {
            (service.name, name): Operation(server_site(service, name))
            for service in topology.services
            for name in service.operations
        }
        for service in topology.services:
            for name, steps in service.operations.items():
                if not steps:
                    raise ValueError(
                        f"build operation {name!r} of service {service.name!r}: it needs at least one step"
                    )
                operation = self._operations[service.name, name]
                operation.steps.extend(
                    self._step(service, f"{name}/{position}", step) for position, step in enumerate(steps)
                )
        self._trace_id = stream(seed, "traces").getrandbits

    def entry(self, operation: str) -> Target:
        """Where a user's request for ``operation`` goes."""
        return self._target(None, spec.Call(self.topology.entry, operation))

    def submit(self, target: Target, done: Callable[[Request], None]) -> None:
        """Sends one request of a user; ``done(request)`` runs when the response has arrived."""
        Request(target, None, self._trace_id(128), done).submit(None, self.engine.now)

    def _step(self, service: spec.ServiceSpec, place: str, step: spec.Step) -> Step:
        rng = stream(self._seed, service.name, place)
        match step:
            case spec.Compute(work):
                return ComputeStep(work.sampler(rng))
            case spec.Wait(time):
                return WaitStep(time.sampler(rng))
            case spec.Call():
                return CallStep([(step.service, self._target(service, step))])
            case spec.Parallel(calls):
                return CallStep([(call.service, self._target(service, call)) for call in calls])

    def _target(self, caller: spec.ServiceSpec | None, call: spec.Call) -> Target:
        try:
            operation = self._operations[call.service, call.operation]
        except KeyError:
            raise ValueError(
                f"call {call.operation!r} of service {call.service!r}: known are {sorted(self._operations)}"
            ) from None
        callee = self._services[call.service]
        names = (caller.name if caller else "user", call.service, call.operation)
        return Target(
            pick=self._next[call.service],
            operation=operation,
            network=self.topology.network.sampler(stream(self._seed, "network", *names)),
            client_site=client_site(caller, callee, call.operation) if caller else None,
        )


def _pool(pool: spec.PoolSpec) -> Pool:
    return Pool(pool.size, pool.queue_limit)
