"""A scenario file: one service, its load, its law, and what happens to it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from .. import laws
from ..shapes import Held
from ..tiers.limits import MOST_SECONDS, MOST_THREADS, MOST_USERS

At = Annotated[float, Field(ge=1, le=1000)]
Factor = Annotated[float, Field(gt=0, le=1000)]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Service(Part):
    cores: float = Field(gt=0, le=256)
    compute_ms: float = Field(gt=0, le=60_000)
    """Mean of a log-normal time on a free core; so is ``wait_ms``, in which the thread is held and uses no CPU."""
    wait_ms: float = Field(default=0.0, ge=0, le=600_000)
    sigma: float = Field(default=0.5, ge=0, le=10)
    """Coefficient of variation of every such time."""
    contention: float = Field(default=0.0, ge=0, le=1)
    crosstalk: float = Field(default=0.0, ge=0, le=1)
    """``cpu.total_rate``."""
    threads: int = Field(ge=1, le=MOST_THREADS)


class Usl(Part):
    kind: Literal["usl"]


class Cliff(Part):
    """``laws.Cliff``; ``cost`` is a share of the total rate."""

    kind: Literal["cliff"]
    at: At
    cost: float = Field(gt=0, le=1)


class Convoy(Part):
    """``laws.Convoy``; ``cost`` in ms."""

    kind: Literal["convoy"]
    at: float = Field(ge=0, le=1000)
    cost: float = Field(gt=0, le=60_000)


class Pauses(Part):
    """``laws.Pauses``; ``cost`` in ms."""

    kind: Literal["pauses"]
    at: At
    cost: float = Field(gt=0, le=900)


class Bimodal(Part):
    """``laws.Bimodal``; ``service.compute_ms`` is the mean of the short requests."""

    kind: Literal["bimodal"]
    share: float = Field(gt=0, lt=1)
    factor: float = Field(ge=1, le=1000)
    cost: float = Field(ge=0, le=1)


Law = Annotated[Usl | Cliff | Convoy | Pauses | Bimodal, Field(discriminator="kind")]


class Dependency(Part):
    slots: int = Field(default=0, ge=0, le=100_000)
    """0: there is none."""
    ms: float = Field(default=0.0, ge=0, le=600_000)
    """Mean of a log-normal time in which a slot is held."""

    @model_validator(mode="after")
    def _takes_time(self) -> Self:
        if self.slots and not self.ms:
            raise ValueError("ms 0 is not legal with slots; legal: > 0")
        return self


class Scaler(Part):
    """Of the CPU limit, in cores: up above 80 % of it in use, down below 30 % four times (``autoscale``)."""

    lowest: float = Field(gt=0, le=256)
    highest: float = Field(gt=0, le=256)
    step: float = Field(gt=0, le=256)
    every_s: float = Field(gt=0, le=3600)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.lowest > self.highest:
            raise ValueError(f"lowest {self.lowest:g} is above highest {self.highest:g}; legal: lowest <= highest")
        return self


class Event(Part):
    """From ``at_s`` on; what it leaves out stays as it is. Factors are on the service's own figures, 1.0 restores."""

    at_s: float = Field(ge=0)
    compute: Factor | None = None
    wait: Factor | None = None
    hold: Factor | None = None
    """On the time of the lock, law ``convoy``."""
    cores: Factor | None = None
    slo_ms: float | None = Field(default=None, gt=0, le=600_000)


Point = Annotated[list[float], Field(min_length=2, max_length=2)]


class Scenario(Part):
    name: str = Field(min_length=1)
    seconds: float = Field(gt=0, le=MOST_SECONDS)
    warm_up_s: float = Field(default=10.0, ge=0)
    """At the start, not judged."""
    slo_ms: float = Field(gt=0, le=600_000)
    users: int = Field(ge=1, le=MOST_USERS)
    """Closed loop; at a load of 1.0."""
    think_s: float = Field(gt=0, le=3600)
    """Mean of an exponential time."""
    load: list[Point] = Field(min_length=1)
    """(second, share of users), linear between them, the last one held to the end."""
    service: Service
    law: Law = Usl(kind="usl")
    dependency: Dependency = Dependency()
    scaler: Scaler | None = None
    events: list[Event] = []

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.warm_up_s >= self.seconds:
            raise ValueError(f"warm_up_s {self.warm_up_s:g} is not legal; legal: 0 to under seconds {self.seconds:g}")
        try:
            most = round(max(share for _, share in self.shape.points) * self.users)
        except ValueError as cause:
            raise ValueError(f"load: {cause}") from cause
        if most > MOST_USERS:
            raise ValueError(f"load: {most} users at the peak are not legal; legal: <= {MOST_USERS}")
        for i, event in enumerate(self.events):
            if event.at_s > self.seconds:
                raise ValueError(f"events[{i}].at_s {event.at_s:g} is not legal; legal: 0 to seconds {self.seconds:g}")
            if self.scaler and event.cores:
                raise ValueError(f"events[{i}].cores is legal without a scaler only, which sets the cores itself")
            if event.hold and self.convoy is None:
                raise ValueError(f"events[{i}].hold is legal with the law convoy only, which has a lock")
        if self.scaler and not self.scaler.lowest <= self.service.cores <= self.scaler.highest:
            raise ValueError(
                f"service.cores {self.service.cores:g} is not legal; legal with this scaler: "
                f"{self.scaler.lowest:g} to {self.scaler.highest:g}"
            )
        return self

    @property
    def shape(self) -> Held:
        return Held([(second, share) for second, share in self.load])

    @property
    def cliff(self) -> laws.Cliff | None:
        return laws.Cliff(self.law.at, self.law.cost) if isinstance(self.law, Cliff) else None

    @property
    def convoy(self) -> laws.Convoy | None:
        return laws.Convoy(self.law.at, self.law.cost / 1e3) if isinstance(self.law, Convoy) else None

    @property
    def pauses(self) -> laws.Pauses | None:
        return laws.Pauses(self.law.at, self.law.cost / 1e3) if isinstance(self.law, Pauses) else None

    @property
    def bimodal(self) -> laws.Bimodal | None:
        law = self.law
        return laws.Bimodal(law.share, law.factor, law.cost) if isinstance(law, Bimodal) else None

    def slo_ms_at(self, second: float) -> float:
        """The SLO in force: of the last event up to then that has one."""
        changes = [(event.at_s, event.slo_ms) for event in self.events if event.slo_ms is not None]
        return ([self.slo_ms] + [slo for at, slo in sorted(changes) if at <= second])[-1]
