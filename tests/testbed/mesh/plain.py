"""The same engine in plain Python, one object a thing: what the compiled one is held against, event by event."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from ..distributions import stream
from .application import Application, Call
from .calibration import Floats
from .fleet import Fleet
from .graph import Graph
from .memory import BINS, FINEST, MOST_JOBS, MOST_VISITS, ROUND_ROBIN, STEP, TALLY, work_of
from .routes import Routes


@dataclass(eq=False)
class Connection:
    to: int
    step: float = 1.0
    due: float = 0.0
    until: float = 1.0
    outstanding: int = 0


@dataclass(eq=False)
class Visit:
    call: Call
    container: Container
    caller: Visit | None
    over: Connection | None
    pair: int
    root: int
    began: float
    segment: float
    stage: int = 0
    pending: int = 0
    failed: bool = False
    resumed: float = 0.0
    own: float = 0.0

    @property
    def top(self) -> Visit:
        return self if self.caller is None else self.caller.top


@dataclass(eq=False)
class Container:
    number: int
    since: float
    speed: float = 0.0
    virtual: float = 0.0
    busy: float = 0.0
    ready: float = math.inf
    jobs: list[tuple[float, int, Visit]] = field(default_factory=list)
    routes: dict[int, list[Connection]] = field(default_factory=dict)
    """By slot."""
    tally: list[float] = field(default_factory=lambda: [0, 0.0, 0.0, 0.0, 0.0])

    def bring_up(self, now: float) -> None:
        if self.jobs:
            elapsed = now - self.since
            self.virtual += elapsed * self.speed / len(self.jobs)
            self.busy += elapsed
        else:
            self.virtual = 0.0
        self.since = now

    def schedule(self, now: float) -> None:
        self.ready = math.inf
        if self.jobs and self.speed > 0.0:
            self.ready = now + max(0.0, self.jobs[0][0] - self.virtual) * len(self.jobs) / self.speed


class PlainEngine:
    def __init__(
        self, application: Application, graph: Graph, levels: Floats, seed: int, routing: int, most: int
    ) -> None:
        self._application, self._graph = application, graph
        self._routing = routing
        top = float(levels.max())
        self._levels = [float(level) for level in levels / top]
        self._rates = [root.rate_per_s * top for root in application.roots]
        self._service = {service.name: i for i, service in enumerate(application.services)}
        self._pair = {pair: i for i, pair in enumerate(graph.pairs)}
        self._mu, self._sigma = (dict(enumerate(values.tolist())) for values in work_of(application))
        self._work = [stream(seed, "mesh", service.name, "work") for service in application.services]
        self._gaps, self._kept, self._entry = (
            [stream(seed, "mesh", root.name, what) for root in application.roots] for what in ("gaps", "kept", "entry")
        )
        self._parts, self._picks = stream(seed, "mesh", "parts"), stream(seed, "mesh", "picks")
        self._containers: list[Container] = []
        self._members: list[list[int]] = []
        self._pairs = np.zeros((max(1, len(graph.pairs)), BINS), dtype=np.int64)
        self._rows: list[tuple[float, float, int, int]] = []
        self._over: dict[tuple[int, int, int], Connection] = {}
        """By (from, to, slot)."""
        self._flying = 0
        self._order = 0
        self._now = 0.0
        self._arrivals = [gaps.expovariate(rate) for gaps, rate in zip(self._gaps, self._rates, strict=True)]

    def advance(self, until: float) -> None:
        while True:
            root = min(range(len(self._arrivals)), key=self._arrivals.__getitem__)
            first = min(self._containers, key=lambda container: container.ready)
            if min(self._arrivals[root], first.ready) > until:
                self._now = until
                return
            if self._arrivals[root] <= first.ready:
                self._now = self._arrivals[root]
                self._arrive(root)
            else:
                self._now = first.ready
                self._computed(self._leave(first))

    def place(self, fleet: Fleet) -> None:
        while len(self._containers) < len(fleet):
            self._containers.append(Container(len(self._containers), self._now))
        self._members = [list(live) for live in fleet.live]

    def connect(self, routes: Routes) -> None:
        old, self._over = self._over, {}
        for (one, to, slot), at in routes.keys.items():
            _, step, due, until, _ = routes.connections[at].tolist()
            connection = old.get((one, to, slot), Connection(to))
            connection.step, connection.due, connection.until = step, due, until
            self._over[one, to, slot] = connection
        for container in self._containers:
            container.routes = {}
        for (one, _, slot), connection in self._over.items():
            self._containers[one].routes.setdefault(slot, []).append(connection)

    def speeds(self, speeds: Floats) -> None:
        for container, speed in zip(self._containers, speeds.tolist(), strict=True):
            container.bring_up(self._now)
            container.speed = speed
            container.schedule(self._now)

    def busy(self) -> Floats:
        return np.array([c.busy + (self._now - c.since if c.jobs else 0.0) for c in self._containers])

    def tallies(self) -> np.ndarray:
        return np.array([tuple(container.tally) for container in self._containers], dtype=TALLY)

    def pairs(self) -> np.ndarray:
        return self._pairs.copy()

    def rows(self) -> Floats:
        return np.array(self._rows, dtype=float).reshape(-1, 4)

    def _arrive(self, root: int) -> None:
        level = self._levels[min(int(self._now), len(self._levels) - 1)]
        self._arrivals[root] = self._now + self._gaps[root].expovariate(self._rates[root])
        if self._kept[root].random() >= level:
            return
        tree = self._application.roots[root].tree
        members = self._members[self._service[tree.service]]
        to = self._containers[members[int(self._entry[root].random() * len(members))]]
        if not self._begin(tree, to, None, None, -1, root):
            self._rows.append((self._now, self._now, root, 1))

    def _begin(
        self, call: Call, to: Container, caller: Visit | None, over: Connection | None, pair: int, root: int
    ) -> bool:
        if self._flying == MOST_VISITS or len(to.jobs) >= MOST_JOBS:
            return False
        self._flying += 1
        service = self._service[call.service]
        work = self._work[service].lognormvariate(self._mu[service], self._sigma[service])
        segment = work / (len(call.stages) + 1)
        self._compute(Visit(call, to, caller, over, pair, root, self._now, segment))
        return True

    def _compute(self, visit: Visit) -> None:
        visit.resumed = self._now
        container = visit.container
        container.bring_up(self._now)
        self._order += 1
        heappush(container.jobs, (container.virtual + visit.segment, self._order, visit))
        container.schedule(self._now)

    def _leave(self, container: Container) -> Visit:
        container.bring_up(self._now)
        container.virtual, _, visit = heappop(container.jobs)
        container.schedule(self._now)
        return visit

    def _computed(self, visit: Visit) -> None:
        visit.own += self._now - visit.resumed
        if visit.stage == len(visit.call.stages):
            self._answer(visit)
            return
        stage = visit.call.stages[visit.stage]
        visit.stage += 1
        for call in stage:
            pair = self._pair[self._service[visit.call.service], self._service[call.service]]
            part = call.calls - int(call.calls)
            times = int(call.calls) + (1 if part > 0.0 and self._parts.random() < part else 0)
            for _ in range(times):
                over = self._choose(visit.container.routes[self._graph.slots[pair]])
                if self._begin(call, self._containers[over.to], visit, over, pair, visit.root):
                    over.outstanding += 1
                    visit.pending += 1
                else:
                    visit.top.failed = True
        if not visit.pending:
            self._resume(visit)

    def _resume(self, visit: Visit) -> None:
        if len(visit.container.jobs) < MOST_JOBS:
            self._compute(visit)
            return
        visit.top.failed = True
        self._answer(visit)

    def _answer(self, visit: Visit) -> None:
        self._tally(visit)
        self._flying -= 1
        if visit.over is not None:
            visit.over.outstanding -= 1
        if visit.caller is None:
            self._rows.append((visit.began, self._now, visit.root, int(visit.failed)))
            return
        visit.caller.pending -= 1
        if not visit.caller.pending:
            self._resume(visit.caller)

    def _tally(self, visit: Visit) -> None:
        own = math.log(max(visit.own * 1e3, 1e-6))
        whole = math.log(max((self._now - visit.began) * 1e3, 1e-6))
        tally = visit.container.tally
        for i, value in enumerate((1, own, own * own, whole, whole * whole)):
            tally[i] += value
        if visit.pair >= 0:
            self._pairs[visit.pair, min(BINS - 1, max(0, math.floor((own - FINEST) / STEP)))] += 1

    def _choose(self, connections: list[Connection]) -> Connection:
        if self._routing == ROUND_ROBIN:
            best = min(connections, key=lambda connection: connection.due)
            best.due += best.step
            return best
        one, other = self._drawn(connections), self._drawn(connections)
        return other if other.outstanding < one.outstanding else one

    def _drawn(self, connections: list[Connection]) -> Connection:
        at = self._picks.random()
        return next((c for c in connections[:-1] if at < c.until), connections[-1])
