"""Half an hour of Social Network under a changing load, with an autoscaler (Microns 7.2.2, figure 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.subsets.strategies import Following
from testbed.mesh.application import Application, Host, Service
from testbed.mesh.autoscaler import MeshAutoscaler
from testbed.mesh.calibration import Floats, slowdown
from testbed.mesh.fleet import Fleet
from testbed.mesh.presets.deployment import TARGET, Deployment, deploy
from testbed.mesh.presets.shape import Shape
from testbed.mesh.run import Counters, MeshRun
from testbed.mesh.samples import measured
from testbed.shapes import Held

SECONDS, PERIOD_S = 1800, 15
"""Of the run; between two looks of the autoscaler."""
DRIFT = 0.05
"""A host whose utilization changed by more since the last solution makes another one necessary."""
LOAD = Held(
    [
        *((0, 0.45), (180, 0.55), (360, 0.85), (480, 0.95), (600, 0.80), (780, 0.60)),
        *((960, 0.70), (1140, 1.00), (1290, 0.90), (1440, 0.65), (1620, 0.50), (1800, 0.55)),
    ]
)
"""Ours: the production traces' half hour of figure 11 is not published as numbers."""
SWING = 0.08
"""Of every second's rate, up and down."""
SIZED_FOR = 0.4
"""The difference of the hosts under which the autoscaler gives the highest load the containers of a world."""
ROOM, SPARE = 3, 4
"""A service may have so many times its containers of the highest load, and so many more."""


@dataclass(frozen=True)
class World:
    """The defaults are the paper's values, or ours where it has none.

    containers: what the autoscaler gives the highest load under SIZED_FOR; the load follows from it. before, after:
    difference of the hosts' utilization in each half, 0 to 1. load: times the load. ready_s: until a new container
    takes calls. sees_lost: whether the autoscaler counts time that other tenants take as use, as a container's CPU time
    does under contention for memory, and does not where the host gives its cores to others.
    """

    containers: int = 256
    before: float = 0.2
    after: float = 0.4
    load: float = 1.0
    ready_s: float = 15.0
    sees_lost: bool = True
    seed: int = 1


@dataclass
class Changed:
    """What a run was like. rows: of ``memory``. counts: containers of each service in force, by period."""

    rows: Floats = field(default_factory=lambda: np.empty((0, 4)))
    counts: list[list[int]] = field(default_factory=list)
    busiest: list[float] = field(default_factory=list)
    """By period: the part of the time in which the busiest container computed."""
    cores: float = 0.0
    connections: list[int] = field(default_factory=list)
    solved: int = 0


def utilization(fleet: Fleet, used: Floats, hosts: Floats, sees_lost: bool) -> Floats:
    """Of each service, of its limits, as the autoscaler sees it. ``used``: cores by container; ``hosts``: what is used
    of them, (hosts, 3)."""
    seen = used if sees_lost else used / slowdown(hosts[fleet.host], fleet.weights)
    return np.array([seen[members].sum() / fleet.cores[members].sum() for members in fleet.members])


class Changing:
    def __init__(self, shape: Shape, world: World, follow: Following, replay: Sequence[Sequence[int]] | None) -> None:
        """replay: containers of each service by period, from another run; None for the autoscaler's own."""
        full = deploy(shape, Deployment(world.containers, SIZED_FOR, 1.0, world.seed))
        many = deploy(shape, Deployment(16 * world.containers, world.after, 1.0, world.seed))
        most = [ROOM * len(service.containers) + SPARE for service in full.services]
        services = [
            service.model_copy(update={"containers": service.containers[:count]})
            for service, count in zip(many.services, most, strict=True)
        ]
        calm = deploy(shape, Deployment(world.containers, world.before, 1.0, world.seed))
        self._after = many.testbed.others
        roots = [root.model_copy(update={"rate_per_s": root.rate_per_s * world.load}) for root in full.roots]
        testbed = many.testbed.model_copy(update={"others": calm.testbed.others})
        self._all = full.model_copy(
            update={"hosts": calm.hosts, "services": services, "roots": roots, "testbed": testbed}
        )
        first = LOAD(0) / max(share for _, share in LOAD.points)
        counts = [int(np.ceil(first * len(service.containers))) for service in full.services]
        self._counts = list(counts if replay is None else replay[0])
        self._replay, self._world, self._follow = replay, world, follow
        self._autoscaler = MeshAutoscaler(
            self._counts, [len(service.containers) for service in services], TARGET, world.ready_s
        )
        self._known: dict[str, Host] = {host.name: host for host in calm.hosts}
        self._solved_for = dict(self._known)
        self._solution = follow(self._now(0.0).public(), None)
        noise = 1.0 + SWING * np.random.default_rng([world.seed, 1]).uniform(-1.0, 1.0, SECONDS)
        levels = np.array([LOAD(second) for second in range(SECONDS)]) * noise
        self._run = MeshRun(self._all, self._solution, world.seed, levels=levels, counts=self._counts)

    def whole(self) -> Changed:
        run, result = self._run, Changed()
        before = run.counters()
        while run.now < SECONDS:
            if run.now == SECONDS / 2:
                run.contend(self._after)
            run.until(run.now + PERIOD_S)
            after = run.counters()
            result.counts.append(list(self._counts))
            result.connections.append(run.connections)
            result.busiest.append(float((after.busy_s - before.busy_s).max() / PERIOD_S))
            self._known = measured(run, before, after)
            counts = self._next(before, after, len(result.counts))
            if counts != self._counts or self._drifted():
                self._counts = counts
                self._solution = self._follow(self._now(run.now).public(), self._solution)
                self._solved_for = dict(self._known)
                run.connect(self._solution, counts)
                result.solved += 1
            before = after
        result.rows = run.engine.rows()
        result.cores = float(run.counters().used_core_s.sum() / SECONDS)
        return result

    def _now(self, second: float) -> Application:
        """What a strategy knows: the containers that take calls, the hosts as measured, the load."""
        level = LOAD(second)
        services = [
            Service(name=service.name, containers=service.containers[:count])
            for service, count in zip(self._all.services, self._counts, strict=True)
        ]
        roots = [root.model_copy(update={"rate_per_s": root.rate_per_s * level}) for root in self._all.roots]
        return self._all.model_copy(update={"hosts": list(self._known.values()), "services": services, "roots": roots})

    def _next(self, before: Counters, after: Counters, period: int) -> list[int]:
        if self._replay is not None:
            return list(self._replay[min(period, len(self._replay) - 1)])
        used = (after.used_core_s - before.used_core_s) / PERIOD_S
        hosts = (after.utilization_s - before.utilization_s) / PERIOD_S
        seen = utilization(self._run.fleet, used, hosts, self._world.sees_lost)
        return self._autoscaler.scale(self._run.now, seen)

    def _drifted(self) -> bool:
        return any(
            abs(getattr(host, what) - getattr(self._solved_for[name], what)) > DRIFT
            for name, host in self._known.items()
            for what in ("cpu", "memory_bandwidth", "network")
        )
