"""What changes during a run, and when: each event checks itself against the run that it is for, then happens once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .mix import check_weights

if TYPE_CHECKING:
    from .simulation import Simulation


class Event(Protocol):
    @property
    def at_s(self) -> float:
        """Seconds since the start of the run."""
        ...

    def check(self, run: Simulation) -> None:
        """Raises ValueError when a name is unknown there or a value lies outside its range."""
        ...

    def apply(self, run: Simulation) -> None: ...


@dataclass(frozen=True, slots=True)
class CpuLimit:
    """Vertical scaling: ``cores`` for each replica of a service."""

    at_s: float
    service: str
    cores: float

    def check(self, run: Simulation) -> None:
        _check_time(self)
        _check_service(self, self.service, run)
        _check_positive(self, "cores", self.cores)

    def apply(self, run: Simulation) -> None:
        run.application.services[self.service].set_cores(self.cores)


@dataclass(frozen=True, slots=True)
class Replicas:
    """Horizontal scaling; a replica that is removed gets no new requests and finishes those it has."""

    at_s: float
    service: str
    replicas: int

    def check(self, run: Simulation) -> None:
        _check_time(self)
        _check_service(self, self.service, run)
        if not isinstance(self.replicas, int) or self.replicas < 1:
            raise ValueError(f"{self}: replicas must be an integer from 1")

    def apply(self, run: Simulation) -> None:
        run.application.scale(self.service, self.replicas)


@dataclass(frozen=True, slots=True)
class ServiceTime:
    """Drift: from now on each piece of work and each wait takes ``compute`` and ``wait`` times its specified time.

    New business logic changes ``compute``, a larger data set that of a database and its ``wait`` (ConScale III-C).
    """

    at_s: float
    service: str
    compute: float = 1.0
    wait: float = 1.0

    def check(self, run: Simulation) -> None:
        _check_time(self)
        _check_service(self, self.service, run)
        _check_positive(self, "compute", self.compute)
        _check_positive(self, "wait", self.wait)

    def apply(self, run: Simulation) -> None:
        pace = run.application.services[self.service].pace
        pace.compute, pace.wait = self.compute, self.wait


@dataclass(frozen=True)
class RequestMix:
    """Users ask for other operations, or in other proportions: from light to heavy requests (Sora 2.3, 5.3)."""

    at_s: float
    weights: Mapping[str, float]

    def check(self, run: Simulation) -> None:
        _check_time(self)
        check_weights(self.weights)
        for operation in self.weights:
            run.application.entry(operation)

    def apply(self, run: Simulation) -> None:
        run.mix.change(self.weights)


@dataclass(frozen=True, slots=True)
class PoolSize:
    at_s: float
    pool: str
    size: int

    def check(self, run: Simulation) -> None:
        _check_time(self)
        if self.pool not in run.pools:
            raise ValueError(f"{self}: pool must be one of {', '.join(sorted(run.pools))}")
        try:
            run.pools[self.pool].check(self.size)
        except ValueError as error:
            raise ValueError(f"{self}: {error}") from None

    def apply(self, run: Simulation) -> None:
        run.pools[self.pool].resize(self.size)


def _check_time(event: Event) -> None:
    if not (math.isfinite(event.at_s) and event.at_s >= 0):
        raise ValueError(f"{event}: at_s must be a finite number from 0")


def _check_service(event: Event, service: str, run: Simulation) -> None:
    if service not in run.application.services:
        raise ValueError(f"{event}: service must be one of {', '.join(sorted(run.application.services))}")


def _check_positive(event: Event, name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{event}: {name} must be > 0 and finite")
