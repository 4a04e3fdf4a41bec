"""Hardware autoscalers inside a run: each samples a service's CPU every period and applies what its rule says."""

from .autoscale import HorizontalScaler, VerticalScaler
from .simulation import Simulation

PERIOD_S = 15.0
"""Kubernetes' default, and Sora's (4.1)."""
READY_S = 15.0
"""Between the decision to add a replica and its first request, as in ConScale IV-A."""


class CpuSampler:
    """Utilization of a service since the last look: cores used of the cores that its replicas may use, 0..1."""

    def __init__(self, simulation: Simulation, service: str) -> None:
        if service not in simulation.application.services:
            known = ", ".join(sorted(simulation.application.services))
            raise ValueError(f"autoscale {service!r}: service must be one of {known}")
        self._simulation = simulation
        self._service = simulation.application.services[service]
        self._used = self._service.core_seconds()
        self._at = simulation.engine.now

    def sample(self) -> float:
        now, used = self._simulation.engine.now, self._service.core_seconds()
        available = (now - self._at) * self._service.cores * len(self._service.instances)
        utilization = (used - self._used) / available
        self._at, self._used = now, used
        return utilization


class HorizontalAgent:
    """The HPA of one service. New replicas are counted from the decision on, and get requests when ready."""

    def __init__(
        self,
        simulation: Simulation,
        service: str,
        scaler: HorizontalScaler,
        period_s: float = PERIOD_S,
        ready_s: float = READY_S,
    ) -> None:
        self._simulation = simulation
        self._service = service
        self._scaler = scaler
        self._period_s = period_s
        self._ready_s = ready_s
        self._cpu = CpuSampler(simulation, service)
        self._replicas = len(simulation.application.services[service].instances)
        self.applied: list[tuple[float, int]] = []
        """(second of the decision, replicas) of every change."""
        simulation.engine.after(period_s, self._step, None)

    def _step(self, _: None) -> None:
        engine = self._simulation.engine
        engine.after(self._period_s, self._step, None)
        utilization = self._cpu.sample()
        running = len(self._simulation.application.services[self._service].instances)
        if running < self._replicas:
            return  # the last decision has not come into force: its effect is unknown
        decided = self._scaler.decide(engine.now, self._replicas, utilization)
        if decided == self._replicas:
            return
        grows = decided > self._replicas
        self._replicas = decided
        self.applied.append((engine.now, decided))
        engine.after(self._ready_s if grows else 0.0, self._apply, decided)

    def _apply(self, replicas: int) -> None:
        self._simulation.application.scale(self._service, replicas)


class VerticalAgent:
    """The threshold scaler of one service's CPU limit, in force at once."""

    def __init__(
        self, simulation: Simulation, service: str, scaler: VerticalScaler, period_s: float = PERIOD_S
    ) -> None:
        self._simulation = simulation
        self._scaler = scaler
        self._period_s = period_s
        self._cpu = CpuSampler(simulation, service)
        self._service = simulation.application.services[service]
        self.applied: list[tuple[float, float]] = []
        """(second, cores) of every change."""
        simulation.engine.after(period_s, self._step, None)

    def _step(self, _: None) -> None:
        decided = self._scaler.decide(self._service.cores, self._cpu.sample())
        if decided != self._service.cores:
            self._service.set_cores(decided)
            self.applied.append((self._simulation.engine.now, decided))
        self._simulation.engine.after(self._period_s, self._step, None)
