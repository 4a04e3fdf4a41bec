"""The compiled engine, as ``run.MeshRun`` drives it; ``plain.PlainEngine`` does the same, slower."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from . import kernel, sharing
from .application import Application
from .calibration import Floats
from .fleet import Fleet
from .graph import Graph
from .memory import first
from .routes import Routes


class Engine(Protocol):
    def advance(self, until: float) -> None:
        """Everything up to and including this second happens."""

    def place(self, fleet: Fleet) -> None:
        """The containers that there are, and those of each service that users' requests go to."""

    def connect(self, routes: Routes) -> None: ...

    def speeds(self, speeds: Floats) -> None:
        """Work per second by container."""

    def busy(self) -> Floats:
        """Seconds in which each container computed, so far."""

    def tallies(self) -> np.ndarray:
        """Of ``memory.TALLY`` by container, so far."""

    def pairs(self) -> np.ndarray:
        """Own times of visits by pair, shape (pairs, BINS), so far."""

    def rows(self) -> Floats:
        """Requests that ended, in the order of their ends; shape (n, 4)."""


class CompiledEngine:
    def __init__(
        self, application: Application, graph: Graph, levels: Floats, seed: int, routing: int, most: int
    ) -> None:
        self._m = first(application, graph, levels, seed, most)
        self._m.state["routing"] = routing
        self._routes: Routes | None = None
        self._count = 0
        self._rows: list[Floats] = []
        kernel.start(self._m)

    def advance(self, until: float) -> None:
        reached = False
        while not reached:
            reached = kernel.advance(self._m, until)
            new = int(self._m.state["recorded"][0])
            self._rows.append(self._m.rows[:new].copy())
            self._m.state["recorded"] = 0

    def place(self, fleet: Fleet) -> None:
        new, now = slice(self._count, len(fleet)), self._m.state["now"][0]
        if len(fleet) > len(self._m.containers):
            raise ValueError(f"{len(fleet)} containers in the run; there is room for {len(self._m.containers)}")
        self._m.containers["service"][new] = fleet.service[new]
        self._m.containers["since"][new] = now
        self._count = len(fleet)
        for service, live in enumerate(fleet.live):
            self._m.members[service, : len(live)] = live
            self._m.member_count[service] = len(live)

    def connect(self, routes: Routes) -> None:
        m = self._m
        connections = routes.connections.copy()
        if self._routes is not None:
            moved = self._routes.moved(routes)
            kept = moved >= 0
            connections["outstanding"][moved[kept]] = m.connections["outstanding"][kept]
            flying = m.visits["connection"] >= 0
            m.visits["connection"][flying] = moved[m.visits["connection"][flying]]
        m.routes[: len(routes.table)] = routes.table
        self._m, self._routes = m._replace(connections=connections), routes

    def speeds(self, speeds: Floats) -> None:
        sharing.change(self._m, self._m.state["now"][0], speeds, len(speeds))

    def busy(self) -> Floats:
        m, now = self._m, self._m.state["now"][0]
        computing = m.jobs["order"][: self._count, 0] > 0
        since = m.containers["since"][: self._count]
        busy: Floats = m.containers["busy"][: self._count] + np.where(computing, now - since, 0.0)
        return busy

    def tallies(self) -> np.ndarray:
        return self._m.tallies[: self._count].copy()

    def pairs(self) -> np.ndarray:
        return self._m.pairs.copy()

    def rows(self) -> Floats:
        return np.concatenate([np.empty((0, 4)), *self._rows])
