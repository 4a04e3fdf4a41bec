"""Half an hour with an autoscaler, a load that varies, and hosts whose contention changes midway (Microns 7.2.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..shapes import Held
from .application import Application, Container, Host, Service
from .autoscaler import Autoscaler
from .calibration import Floats
from .judged import percentiles
from .memory import ARRIVED
from .presets.deployment import HIGH, Deployment, deploy
from .presets.shape import Shape
from .run import MeshRun
from .samples import measured
from .solution import Solution

Strategy = Callable[[dict[str, Any], Solution | None], Solution]
"""From an application, as ``Application.public`` gives it, and what is in force, the next solution."""

SECONDS = 1800
PERIOD_S = 15
"""Of the autoscaler."""
TARGET = 0.3
"""Utilization of CPU limits that the autoscaler keeps (7.2.2)."""
BEFORE, AFTER = 0.2, 0.4
"""Difference between hosts in the first and the second half (7.2.2)."""
DRIFT = 0.05
"""A host whose utilization changed by more since the last solution asks for another one."""
SHAPE = Held(
    [
        *((0, 0.45), (180, 0.55), (360, 0.85), (480, 0.95), (600, 0.80), (780, 0.60)),
        *((960, 0.70), (1140, 1.00), (1290, 0.90), (1440, 0.65), (1620, 0.50), (1800, 0.55)),
    ]
)
"""Share of the workload; re-drawn: the production traces' half hour of figure 11 is not published as numbers."""
SWING = 0.08
"""Of every second's rate, up and down: neighbouring minutes of production load differ by some per cent."""


@dataclass
class Lived:
    """By period of 15 s, unless said otherwise."""

    containers: list[int] = field(default_factory=list)
    cores: list[float] = field(default_factory=list)
    connections: list[int] = field(default_factory=list)
    changed: int = 0
    """Connections that came or went over the whole time, without the first ones."""
    solved: int = 0
    latency_ms: dict[str, Floats] = field(default_factory=dict)
    """Percentiles 50, 95, 99: of all, of each half."""


def lived(shape: Shape, strategy: Strategy, seed: int, containers: int = 256, routing: str = "round_robin") -> Lived:
    """``containers``: what the highest load would be given at HIGH; the run starts with what the first load needs."""
    first = SHAPE(0) / max(share for _, share in SHAPE.points)
    full = deploy(shape, Deployment(containers, HIGH, 1.0, seed))
    rate = sum(root.rate_per_s for root in full.roots)
    started = deploy(shape, Deployment(max(len(shape.natures), round(containers * first)), BEFORE, 1.0, seed))
    scale = rate / sum(root.rate_per_s for root in started.roots)
    roots = [root.model_copy(update={"rate_per_s": root.rate_per_s * scale}) for root in started.roots]
    return _Life(started.model_copy(update={"roots": roots}), strategy, seed, routing, 4 * containers).live()


class _Life:
    def __init__(self, application: Application, strategy: Strategy, seed: int, routing: str, most: int) -> None:
        self._application, self._strategy = application, strategy
        self._solution = strategy(application.public(), None)
        noise = 1.0 + SWING * np.random.default_rng([seed, 1]).uniform(-1.0, 1.0, SECONDS)
        levels = np.array([SHAPE(second) for second in range(SECONDS)]) * noise
        self._run = MeshRun(application, self._solution, seed, routing, levels, most)
        self._autoscaler = Autoscaler(self._run.fleet, TARGET, most)
        self._solved_for = {host.name: host for host in application.hosts}
        self._known = dict(self._solved_for)
        self.found = Lived()

    def live(self) -> Lived:
        run, before = self._run, self._run.counters()
        while run.now < SECONDS:
            if run.now == SECONDS / 2:
                run.contend(stretched(self._application.testbed.others, AFTER / BEFORE))
            run.until(run.now + PERIOD_S)
            after = run.counters()
            self._known = measured(run, before, after)
            moved = self._autoscaler.scale(run.now, after.used_core_s - before.used_core_s, PERIOD_S)
            if moved or self._drifted():
                self._solve()
            self.found.containers.append(sum(len(live) for live in run.fleet.live))
            self.found.cores.append(float(after.used_core_s.sum() - before.used_core_s.sum()) / PERIOD_S)
            self.found.connections.append(run.connections)
            before = run.counters()
        rows = run.engine.rows()
        late = rows[:, ARRIVED] >= SECONDS / 2
        halves = {"all": rows, "low": rows[~late], "high": rows[late]}
        self.found.latency_ms = {name: percentiles(each) for name, each in halves.items()}
        return self.found

    def _drifted(self) -> bool:
        return any(
            abs(getattr(host, what) - getattr(self._solved_for[name], what)) > DRIFT
            for name, host in self._known.items()
            for what in ("cpu", "memory_bandwidth", "network")
        )

    def _solve(self) -> None:
        fleet = self._run.fleet
        services = [
            Service(
                name=name,
                containers=[Container(name=fleet.names[c], host=fleet.hosts[fleet.host[c]]) for c in fleet.live[i]],
            )
            for i, name in enumerate(fleet.services)
        ]
        level = SHAPE(self._run.now)
        now = self._application.model_copy(
            update={
                "hosts": list(self._known.values()),
                "services": services,
                "roots": [
                    root.model_copy(update={"rate_per_s": root.rate_per_s * level}) for root in self._application.roots
                ],
            }
        )
        after = self._strategy(now.public(), self._solution)
        self.found.changed += changed(self._solution, after)
        self.found.solved += 1
        self._solution, self._solved_for = after, dict(self._known)
        self._run.connect(after)


def changed(before: Solution, after: Solution) -> int:
    """Connections that are in one of the two alone."""

    def of(solution: Solution) -> set[tuple[str, str]]:
        return {(each.from_, each.to) for pair in solution.pairs for each in pair.connections}

    return len(of(before) ^ of(after))


def stretched(others: dict[str, Host], times: float) -> dict[str, Host]:
    """The same hosts, ``times`` as busy."""

    def busier(figure: float) -> float:
        return min(1.0, figure * times)

    return {
        name: Host(
            name=name,
            cpu=busier(host.cpu),
            memory_bandwidth=busier(host.memory_bandwidth),
            network=busier(host.network),
        )
        for name, host in others.items()
    }
