"""A run, second by second: hosts slow containers by what is used on them, and between seconds things may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .application import Application, Host
from .calibration import Floats
from .engine import Engine
from .fleet import Fleet
from .graph import flatten
from .memory import LEAST_REQUEST, ROUND_ROBIN
from .routes import routes
from .solution import Solution

ROUTINGS = {"round_robin": ROUND_ROBIN, "least_request": LEAST_REQUEST}
TICK_S = 1.0
"""How often hosts look at what is used on them."""


@dataclass(frozen=True)
class Counters:
    """Sums since the start, by container or host."""

    second: float
    busy_s: Floats
    used_core_s: Floats
    tallies: np.ndarray
    """Of ``memory.TALLY``."""
    utilization_s: Floats
    """By host, shape (hosts, 3): utilization times seconds."""


class MeshRun:
    """Same application, solution, seed: same events."""

    def __init__(
        self,
        application: Application,
        solution: Solution,
        seed: int,
        routing: str = "round_robin",
        levels: Floats | None = None,
        counts: Sequence[int] | None = None,
    ) -> None:
        """``levels``: load by second, 1.0 the roots' rates; the last one is held. ``counts``: containers of each
        service that take calls (``Fleet.keep``); all without it.

        Raises:
            ValueError: the solution does not fit the application (``routes``).
        """
        self.application = application
        self.graph = flatten(application)
        self.fleet = Fleet(application)
        if counts is not None:
            self.fleet.keep(counts)
        self._seed = seed
        self._routes = routes(solution, self.fleet, self.graph, seed)
        self.engine = Engine(
            application,
            self.graph,
            self.fleet,
            self._routes,
            np.ones(1) if levels is None else np.asarray(levels, dtype=float),
            seed,
            ROUTINGS[routing],
        )
        self.now = 0.0
        self._used = np.zeros(len(self.fleet))
        self._busy = np.zeros(len(self.fleet))
        self._used_core_s = np.zeros(len(self.fleet))
        self._utilization = self.fleet.utilization(self._used)
        self._utilization_s = np.zeros((len(self.fleet.hosts), 3))
        self._slow()

    @property
    def ends(self) -> Floats:
        """Connections that each container holds."""
        return self._routes.ends

    @property
    def connections(self) -> int:
        return int(self._routes.ends.sum() / 2)

    def contend(self, others: Mapping[str, Host]) -> None:
        """From now on the hosts' other tenants use this."""
        self.fleet.contend(others)
        self._slow()

    def connect(self, solution: Solution, counts: Sequence[int] | None = None) -> None:
        """From now on callers follow `solution`. ``counts``: other numbers of containers, as of the constructor.

        Raises:
            ValueError: as of the constructor.
        """
        if counts is not None:
            self.fleet.keep(counts)
        self._routes = routes(solution, self.fleet, self.graph, self._seed)
        self.engine.connect(self._routes, self.fleet)
        self._slow()

    def until(self, second: float) -> None:
        """Everything up to and including ``second`` happens."""
        while self.now < second:
            upto = min(second, (np.floor(self.now / TICK_S + 1e-9) + 1.0) * TICK_S)
            self.engine.advance(upto)
            elapsed, self.now = upto - self.now, float(upto)
            busy = self.engine.busy()
            self._used = self.fleet.used(busy - self._busy, elapsed, self.ends)
            self._busy = busy
            self._used_core_s += self._used * elapsed
            self._utilization_s += self._utilization * elapsed
            self._slow()

    def counters(self) -> Counters:
        return Counters(
            self.now, self._busy.copy(), self._used_core_s.copy(), self.engine.tallies(), self._utilization_s.copy()
        )

    def _slow(self) -> None:
        self._utilization = self.fleet.utilization(self._used)
        self.engine.speeds(self.fleet.speeds(self._utilization, self.ends))
