"""What a run over a path depends on but the seed."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from ..shapes import Held
from ..single.scenario import Factor, Part, Point
from ..tiers.limits import MOST_INSTANCES, MOST_SECONDS, MOST_THREADS, MOST_USERS

MOST_SIZE = 256
"""Of a pool; as many for each instance that a run may build fit into the callee."""


class Caller(Part):
    cores: float = Field(gt=0, le=256)
    compute_ms: float = Field(gt=0, le=60_000)
    contention: float = Field(default=0.0, ge=0, le=1)
    crosstalk: float = Field(default=0.0, ge=0, le=1)
    threads: int = Field(ge=1, le=MOST_SIZE)
    connections: int = Field(ge=1, le=MOST_SIZE)
    replicas: int = Field(default=1, ge=1, le=MOST_INSTANCES)


class Callee(Part):
    cores: float = Field(gt=0, le=256)
    compute_ms: float = Field(gt=0, le=60_000)
    wait_ms: float = Field(gt=0, le=600_000)
    contention: float = Field(default=0.0, ge=0, le=1)
    crosstalk: float = Field(default=0.0, ge=0, le=1)


class Front(Part):
    """A service before the callers, one that all users share: it computes, and holds a thread of its own meanwhile."""

    cores: float = Field(gt=0, le=256)
    compute_ms: float = Field(gt=0, le=60_000)
    threads: int = Field(ge=1, le=MOST_THREADS)


class Change(Part):
    """From ``at_s`` on; what it leaves out stays. Factors are on the callers' computing and the callee's wait."""

    at_s: float = Field(ge=0)
    replicas: int | None = Field(default=None, ge=1, le=MOST_INSTANCES)
    compute: Factor | None = None
    wait: Factor | None = None


class Replicas(Part):
    """Of the callers, by the CPU that they use (``autoscale.HorizontalScaler``); a new one serves ``ready_s`` later."""

    lowest: int = Field(default=1, ge=1, le=MOST_INSTANCES)
    highest: int = Field(ge=1, le=MOST_INSTANCES)
    every_s: float = Field(gt=0, le=3600)
    ready_s: float = Field(ge=0, le=3600)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.lowest > self.highest:
            raise ValueError(f"lowest {self.lowest} is above highest {self.highest}; legal: lowest <= highest")
        return self


class PathScenario(Part):
    name: str = Field(min_length=1)
    seconds: float = Field(gt=0, le=MOST_SECONDS)
    warm_up_s: float = Field(default=10.0, ge=0)
    slo_ms: float = Field(gt=0, le=600_000)
    users: int = Field(ge=1, le=MOST_USERS)
    """Closed loop; at a load of 1.0."""
    think_s: float = Field(gt=0, le=3600)
    load: list[Point] = Field(min_length=1)
    sigma: float = Field(default=0.5, ge=0, le=10)
    """Coefficient of variation of every log-normal time."""
    caller: Caller
    callee: Callee
    front: Front | None = None
    events: list[Change] = Field(default_factory=list)
    """In the order of their times."""
    scaler: Replicas | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if round(max(share for _, share in self.shape.points) * self.users) > MOST_USERS:
            raise ValueError(f"users at the peak are not legal; legal: <= {MOST_USERS}")
        if [event.at_s for event in self.events] != sorted(event.at_s for event in self.events):
            raise ValueError("events must stand in the order of their times")
        scalings = [event.replicas for event in self.events if event.replicas]
        if self.scaler and scalings:
            raise ValueError("events[].replicas is legal without a scaler only, which sets the replicas itself")
        if self.scaler and not self.scaler.lowest <= self.caller.replicas <= self.scaler.highest:
            raise ValueError(f"{self.caller.replicas} replicas are not legal with this scaler")
        built = replicas = self.caller.replicas
        for scaling in scalings:
            built += max(0, scaling - replicas)
            replicas = scaling
        if built > MOST_INSTANCES:
            raise ValueError(f"{built} instances over the run are not legal; legal: <= {MOST_INSTANCES}")
        return self

    @property
    def shape(self) -> Held:
        return Held([(second, share) for second, share in self.load])
