"""An application as ``./sluice subsets solve`` reads it, and what only the testbed knows of it.

What the testbed alone knows stands under ``testbed``; ``public`` leaves it out, so that no strategy sees it.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Part(BaseModel):
    """Keys that are not known are left alone: others may put more into these files."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Host(Part):
    name: str = Field(min_length=1)
    cpu: float = Field(default=0.0, ge=0, le=1)
    """Utilization, 0..1, as the two others."""
    memory_bandwidth: float = Field(default=0.0, ge=0, le=1)
    network: float = Field(default=0.0, ge=0, le=1)


class Container(Part):
    name: str = Field(min_length=1)
    host: str
    address: str = ""


class Service(Part):
    name: str = Field(min_length=1)
    containers: list[Container] = Field(min_length=1)


class Call(Part):
    """Stages run one after the other; the calls within a stage at the same time."""

    service: str
    calls: float = Field(default=1.0, ge=0, le=100)
    """Mean number a visit of the caller: the whole part always, one more as often as the rest says; all at once."""
    stages: list[list[Call]] = Field(default_factory=list)


class Root(Part):
    name: str = Field(min_length=1)
    rate_per_s: float = Field(gt=0, le=1e6)
    tree: Call


class Nature(Part):
    """What a service is like; the defaults are those of a service of which nothing is said."""

    work_ms: float = Field(default=1.0, gt=0, le=60_000)
    """Mean CPU time of a visit, on a core of its own, without its calls."""
    cv: float = Field(default=0.5, ge=0, le=10)
    """Coefficient of variation of that (log-normal) time."""
    cores: float = Field(default=0.1, gt=0, le=256)
    memory_mb: float = Field(default=200.0, gt=0)
    """Limits of a container; Microns 7.1: 0.1 cores, 200 MB."""
    cpu: float = Field(default=0.4, ge=0, le=1)
    """How far contention for CPU slows it, as the two others; they sum to 1."""
    memory_bandwidth: float = Field(default=0.3, ge=0, le=1)
    network: float = Field(default=0.3, ge=0, le=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        total = self.cpu + self.memory_bandwidth + self.network
        if abs(total - 1.0) > 1e-6:
            raise ValueError(f"cpu, memory_bandwidth and network must sum to 1, got {total:g}")
        return self


class Testbed(Part):
    services: dict[str, Nature] = Field(default_factory=dict)
    others: dict[str, Host] = Field(default_factory=dict)
    """By host: what its other tenants use, where ``hosts`` says what was measured, ourselves included."""
    host_cores: float = Field(default=48.0, gt=0)
    """Microns 7.1."""


class Application(Part):
    hosts: list[Host] = Field(min_length=1)
    services: list[Service] = Field(min_length=1)
    roots: list[Root] = Field(min_length=1)
    quota: int | None = None
    min_subset: int = Field(default=2, ge=1)
    percentile: float = Field(default=0.95, gt=0, lt=1)
    latency: dict[str, Any] | None = None
    testbed: Testbed = Testbed()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        hosts = _once("host", [host.name for host in self.hosts])
        services = _once("service", [service.name for service in self.services])
        _once("container", [container.name for service in self.services for container in service.containers])
        _once("root", [root.name for root in self.roots])
        for service in self.services:
            for container in service.containers:
                if container.host not in hosts:
                    raise ValueError(f"container {container.name}: host {container.host!r} is not among the hosts")
        for root in self.roots:
            for call in calls_of(root.tree):
                if call.service not in services:
                    raise ValueError(f"root {root.name}: service {call.service!r} is not among the services")
        return self

    def public(self) -> dict[str, Any]:
        """Without what only the testbed knows: what a strategy is given."""
        return self.model_dump(exclude={"testbed"}, exclude_none=True)

    def nature(self, service: str) -> Nature:
        return self.testbed.services.get(service, Nature())


def calls_of(tree: Call) -> list[Call]:
    """The tree's calls, itself first."""
    return [tree, *(item for stage in tree.stages for call in stage for item in calls_of(call))]


def _once(kind: str, names: list[str]) -> set[str]:
    known: set[str] = set()
    for name in names:
        if name in known:
            raise ValueError(f"{kind} {name!r} stands twice")
        known.add(name)
    return known
