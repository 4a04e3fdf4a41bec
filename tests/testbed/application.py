"""An application as it runs: the topology turned into services, pools, targets and steps."""

from collections.abc import Callable

from . import topology as spec
from .conventions import client_site, server_site
from .distributions import stream
from .engine import Engine
from .host import Host
from .request import Operation, Request, Step, Target
from .service import Emit, Service
from .steps import CallStep, ComputeStep, WaitStep


class Application:
    """Builds every part, and wires operations to the operations that they call.

    Raises:
        ValueError: the topology names a service, an operation or a host that it does not have, or an operation has no
            steps.
    """

    def __init__(self, topology: spec.Topology, engine: Engine, seed: int, emit: Emit) -> None:
        self.engine = engine
        self.topology = topology
        self._seed = seed
        self.hosts = {host.name: Host(host.name, host.cores, host.others) for host in topology.hosts}
        self.services = {
            service.name: Service(service, engine, seed, emit, self._hosts(service)) for service in topology.services
        }
        self.instances = {name: service.instances for name, service in self.services.items()}
        for service in topology.services:
            for peer in service.connections:
                if peer not in self.services:
                    raise ValueError(
                        f"connect service {service.name!r} to {peer!r}: known services are {sorted(self.services)}"
                    )
            for caller in self.services.values():
                caller.callee_has(service.name, service.replicas)
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

    def _hosts(self, service: spec.ServiceSpec) -> list[Host]:
        unknown = sorted(set(service.hosts) - set(self.hosts))
        if unknown:
            raise ValueError(f"place service {service.name!r} on {unknown[0]!r}: known hosts are {sorted(self.hosts)}")
        return [self.hosts[name] for name in service.hosts]

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
        callee = self.services[call.service]
        names = (caller.name if caller else "user", call.service, call.operation)
        return Target(
            pick=callee.pick,
            operation=operation,
            network=self.topology.network.sampler(stream(self._seed, "network", *names)),
            client_site=client_site(caller, callee.spec, call.operation) if caller else None,
        )
