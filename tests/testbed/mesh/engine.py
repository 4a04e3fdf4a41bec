"""The compiled engine, as ``run.MeshRun`` drives it."""

from __future__ import annotations

import numpy as np

from . import kernel, sharing
from .application import Application
from .calibration import Floats
from .fleet import Fleet
from .graph import Graph
from .memory import Memory, first
from .routes import Routes


class Engine:
    def __init__(
        self,
        application: Application,
        graph: Graph,
        fleet: Fleet,
        routes: Routes,
        levels: Floats,
        seed: int,
        routing: int,
    ) -> None:
        self._count = len(fleet)
        m = first(application, graph, levels, seed, self._count)
        m.state["routing"] = routing
        m.containers["service"][: self._count] = fleet.service
        _enter(m, fleet)
        m.routes[: self._count] = routes.table
        self._m = m._replace(connections=routes.connections.copy())
        self._owners = _owners(routes)
        self._rows: list[Floats] = []
        kernel.start(self._m)

    def advance(self, until: float) -> None:
        """Everything up to and including this second happens."""
        reached = False
        while not reached:
            reached = kernel.advance(self._m, until)
            new = int(self._m.state["recorded"][0])
            self._rows.append(self._m.rows[:new].copy())
            self._m.state["recorded"] = 0

    def connect(self, routes: Routes, fleet: Fleet) -> None:
        """From now on calls go over these connections, and those of users to the fleet's members. Outstanding calls end
        on the earlier ones, which stay in memory; no new connection counts them."""
        table, before = routes.table.copy(), len(self._m.connections)
        table["first"] += before
        # A container that takes no more calls makes those of its outstanding ones as before.
        gone = np.setdiff1d(np.arange(self._count), np.concatenate(fleet.members))
        table[gone] = self._m.routes[gone]
        self._m.routes[: self._count] = table
        self._m = self._m._replace(connections=np.concatenate([self._m.connections, routes.connections]))
        self._owners = np.concatenate([self._owners, _owners(routes)])
        _enter(self._m, fleet)

    def speeds(self, speeds: Floats) -> None:
        """Work per second by container."""
        sharing.change(self._m, self._m.state["now"][0], speeds, len(speeds))

    def busy(self) -> Floats:
        """Seconds in which each container computed, so far."""
        m, now = self._m, self._m.state["now"][0]
        computing = m.jobs["order"][: self._count, 0] > 0
        since = m.containers["since"][: self._count]
        busy: Floats = m.containers["busy"][: self._count] + np.where(computing, now - since, 0.0)
        return busy

    def tallies(self) -> np.ndarray:
        """Of ``memory.TALLY`` by container, so far."""
        return self._m.tallies[: self._count].copy()

    def pairs(self) -> np.ndarray:
        """Own times of visits by pair, shape (pairs, BINS), so far."""
        return self._m.pairs.copy()

    def calls(self) -> np.ndarray:
        """Calls so far by caller and called container, shape (containers, containers). Round robin only: a connection
        is due again 1 / weight later after each call."""
        made = np.zeros((self._count, self._count), dtype=np.int64)
        connections = self._m.connections
        # It was due first at a random part of a step, so whole steps are calls.
        steps = np.floor(connections["due"] / connections["step"] + 1e-6).astype(np.int64)
        np.add.at(made, (self._owners, connections["to"]), steps)
        return made

    def rows(self) -> Floats:
        """Requests that ended, in the order of their ends; shape (n, 4)."""
        return np.concatenate([np.empty((0, 5)), *self._rows])


def _enter(m: Memory, fleet: Fleet) -> None:
    """The containers that users' requests go to."""
    for service, members in enumerate(fleet.members):
        m.members[service, : len(members)] = members
        m.member_count[service] = len(members)


def _owners(routes: Routes) -> np.ndarray:
    """The container that calls over each connection."""
    owners = np.zeros(len(routes.connections), dtype=np.int64)
    for container, route in np.ndindex(routes.table.shape):
        first, count = routes.table[container, route]
        owners[first : first + count] = container
    return owners
