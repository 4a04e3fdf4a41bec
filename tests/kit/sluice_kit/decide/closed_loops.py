"""A pair of services on shared hosts, whose contention follows the weights that the solver gives: the closed loop."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sluice.subsets.application import Application, Call, Container, Host, Root, Service
from sluice.subsets.churn import named_connections
from sluice.subsets.connections import flow
from sluice.subsets.fleet import Floats
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.mixture import percentiles
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.plan import plan
from sluice.subsets.state import Inputs, SolverRun, SubsetState
from sluice.subsets.trial import MeasuredLatency

RATE, SPREAD = 800.0, 0.4


@dataclass(frozen=True)
class Truth:
    """What a container takes: 5 ms on an idle host, and a queue of the host's CPU: 1 / (1 - cpu). Its own load is in
    the host's CPU, and not besides."""

    basis: str = "the truth"

    def curves(self, contention: Floats) -> Curves:
        mu = self.mu(contention[:, 0])
        return Curves(np.array([0.0, 1000.0]), np.repeat(mu[:, None], 2, axis=1), np.full((len(mu), 2), SPREAD))

    def mu(self, cpu: Floats) -> Floats:
        return np.log(5 / (1 - np.minimum(cpu, 0.97)))


@dataclass
class Loop:
    """front calls cart, a container on each of `others`' hosts. others: (n,) CPU that others use. share: CPU of a host
    that cart's part of an even load uses. Time goes on by 10 s; contention and p95 are the newest minute's means."""

    others: Floats
    share: float
    settings: MicronsSettings = field(default_factory=MicronsSettings)
    quota: int | None = None
    """The number of connections; None: the solver chooses it."""
    state: SubsetState | None = None
    now_s: float = 0.0
    rate_per_s: float = RATE
    slower: float = 1.0
    """What else makes requests take longer, wherever they go."""
    runs: list[SolverRun] = field(default_factory=list)
    cpu: list[Floats] = field(default_factory=list)
    p95: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.load = np.ones(len(self.others))
        self.even_ms = self._p95(self._cpu())

    def window(self) -> None:
        """10 s of load, and what the decider does then."""
        cpu = self._cpu()
        self.cpu.append(cpu)
        self.p95.append(self._p95(cpu) * self.slower)
        self.now_s += 10
        self.state, run = plan(self.state, self._inputs(), self.now_s)
        if run is not None:
            self.runs.append(run)
            assert self.state is not None
            solved = self.state.solved
            work, _ = flow(solved.problem, solved.solution.subsets)
            names = [fleet.service for fleet in solved.problem.fleets]
            self.load = work[names.index("cart")] * len(self.others) / work[names.index("cart")].sum()

    def _inputs(self) -> Inputs:
        count = len(self.others)
        cpu = np.minimum(np.mean(self.cpu[-6:], axis=0), 1.0)
        hosts = tuple(Host(f"h{at:02}", float(cpu[at])) for at in range(count))
        front = Service("front", tuple(Container(f"front-{at:02}", "h00") for at in range(count)))
        cart = Service("cart", tuple(Container(f"cart-{at:02}", f"h{at:02}") for at in range(count)))
        root = Root("read", self.rate_per_s, Call("front", ((Call("cart"),),)))
        lately = self.p95[-6:]
        measured = MeasuredLatency(
            float(np.mean(lately)), int(self.rate_per_s * 10 * len(lately)), self.now_s - 10 * len(lately), self.now_s
        )
        app = Application(hosts, (front, cart), (root,), quota=self.quota)
        return Inputs(app, MODEL, self.settings, measured={"cart": measured})

    def _cpu(self) -> Floats:
        return self.others + self.share * self.load

    def _p95(self, cpu: Floats) -> float:
        mu = Truth().mu(cpu)
        start = np.array([0, len(mu)])
        return float(np.exp(percentiles(mu, np.full(len(mu), SPREAD), self.load, start, 0.95)[0][0]))


MODEL = LatencyModel({}, Truth())


def weights(state: SubsetState) -> dict[tuple[str, str], float]:
    return named_connections(state.solved.problem, state.solved.solution)["front", "cart"]
