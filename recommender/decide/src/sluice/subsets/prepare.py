"""Does beforehand what would delay the first solution of a process: `python -m sluice.subsets.prepare`."""

from __future__ import annotations

import numpy as np

from sluice.subsets.application import Application, Call, Container, Host, Root, Service
from sluice.subsets.churn import named_connections
from sluice.subsets.latency.boosted import FEWEST
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.strategy_result import answer


def prepare() -> None:
    """Compiles the loops that are not compiled yet (some 10 s of CPU)."""
    hosts = tuple(Host(f"h{number}", cpu) for number, cpu in enumerate((0.1, 0.3, 0.6)))
    services = tuple(
        Service(name, tuple(Container(f"{name}-{at}", f"h{at % 3}") for at in range(6))) for name in ("a", "b")
    )
    app = Application(hosts, services, (Root("read", 10.0, Call("a", ((Call("b"),),))),))
    fewer = Application(hosts, (services[0], Service("b", services[1].containers[1:])), app.roots)
    rate = np.linspace(1, 10, FEWEST)
    samples = {"b": LatencySamples(rate, np.outer(rate, np.full(3, 0.05)), rate, rate)}
    for weights in (True, False):
        settings = MicronsSettings(weights=weights)
        first = answer(app, "microns", samples, settings)
        answer(fewer, "microns", {}, settings, named_connections(first.problem, first.solution))


if __name__ == "__main__":
    prepare()
