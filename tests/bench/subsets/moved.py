"""How many connections move when little changes (``subsets-churn``): each strategy is solved before and after."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from bench.subsets.cells import samples, told
from bench.subsets.strategies import FULL, RIVALS
from sluice.subsets.application import Application, Container
from sluice.subsets.calls import rates
from sluice.subsets.churn import NamedConnections, changed, named_connections
from sluice.subsets.document.application import read_application
from sluice.subsets.document.samples import read_samples
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.latency.training import latency_model
from sluice.subsets.microns.carry import solve_on
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.predict import all_curves
from sluice.subsets.problem import problem
from sluice.subsets.strategy import rival
from testbed.mesh.presets.deployment import HIGH, Deployment

SHAPE, CONTAINERS = "social-network", 512
SETTINGS = {"microns": MicronsSettings(), "microns without weights": MicronsSettings(weights=False)}
NAMES = (*SETTINGS, *RIVALS, FULL)

Change = Callable[[Application, int], Application]
"""Of one service, by its number."""


def added(app: Application, number: int) -> Application:
    """On the host of the service's first container."""
    one = app.services[number]
    return _with(app, number, (*one.containers, Container(f"{one.name}-new", one.containers[0].host)))


def removed(app: Application, number: int) -> Application:
    """The one in the middle of the list."""
    there = app.services[number].containers
    return _with(app, number, there[: len(there) // 2] + there[len(there) // 2 + 1 :])


def drained(app: Application, number: int) -> Application:
    there = list(app.services[number].containers)
    there[len(there) // 2] = replace(there[len(there) // 2], drained=True)
    return _with(app, number, tuple(there))


def _with(app: Application, number: int, containers: tuple[Container, ...]) -> Application:
    services = list(app.services)
    services[number] = replace(services[number], containers=containers)
    return replace(app, services=tuple(services))


def busier(app: Application, number: int) -> Application:
    """5 % more requests of one root."""
    roots = list(app.roots)
    roots[number] = replace(roots[number], rate_per_s=1.05 * roots[number].rate_per_s)
    return replace(app, roots=tuple(roots))


def solve(name: str, app: Application, model: LatencyModel, before: NamedConnections | None) -> NamedConnections:
    """Rivals look at nothing that was."""
    asked = problem(app)
    if name not in SETTINGS:
        return named_connections(asked, rival(name)(asked))
    return named_connections(asked, solve_on(asked, all_curves(asked, model), SETTINGS[name], before))


def moved(before: NamedConnections, after: NamedConnections, service: str) -> tuple[float, float]:
    """Parts of all connections that changed, and that changed in pairs without the service."""
    most = max(sum(map(len, before.values())), sum(map(len, after.values())))
    by_pair = changed(before, after)
    return sum(by_pair.values()) / most, sum(count for pair, count in by_pair.items() if service not in pair) / most


def rows(shape: str, containers: int, names: Sequence[str], most: int) -> Iterator[str]:
    """A line of the table a strategy; most: services that the changes are tried on."""
    app = read_application(told(shape, Deployment(containers, difference=HIGH)).public()).application
    services = [number for number, one in enumerate(app.services) if len(one.containers) > app.min_subset]
    taking_part = {name for pair in rates(app) for name in pair}
    services = [number for number in services if app.services[number].name in taking_part]
    services = services[:: max(len(services) // most, 1)]
    model = latency_model(
        read_samples(io.StringIO(samples(shape, containers)), "samples"), [one.name for one in app.services]
    )
    for name in names:
        before = solve(name, app, model, None)
        cells, elsewhere = [], []
        for change in (added, removed, drained):
            found = [
                moved(before, solve(name, change(app, number), model, before), app.services[number].name)
                for number in services
            ]
            cells.append(_cell([all_of for all_of, _ in found]))
            elsewhere += [others for _, others in found]
        loads = [
            moved(before, solve(name, busier(app, number), model, before), "")[0] for number in range(len(app.roots))
        ]
        total = sum(map(len, before.values()))
        yield f"| {name} | {total:,} | {' | '.join([*cells, _cell(loads)])} | {max(elsewhere):.1%} |"


def _cell(parts: Sequence[float]) -> str:
    return f"{np.mean(parts):.1%} ({max(parts):.1%})"


def run(quick: bool) -> str:
    shape, containers, most = ("hotel", 128, 4) if quick else (SHAPE, CONTAINERS, 1000)
    lines = [
        f"{shape} on {containers} containers, hosts {HIGH:.0%} apart. One change at a time, of each service that has",
        "more containers than the least subset, or of each root: the part of all connections that are new or gone,",
        "mean (most). Microns is told the solution before, as its decider does; rivals have no use for one. The quota",
        "is 4 for each upstream container, so it changes with them; elsewhere: in pairs without the service.",
        "",
        "| strategy | connections | a container added | removed | drained | a root's load +5 % | elsewhere, at most |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *rows(shape, containers, NAMES, most)]) + "\n"
