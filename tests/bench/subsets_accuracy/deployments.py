"""What models learn from, and what they are judged on: another placement, other hosts, another mix of contention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.subsets.cells import PROFILED_AT, told
from bench.subsets.strategies import MICRONS, learnt, strategy
from bench.subsets_accuracy.pair_models import MODELS, Model
from bench.subsets_accuracy.seen import Names, PairSeen, pairs_seen
from sluice.subsets.connections import flow
from sluice.subsets.document.application import read_application
from sluice.subsets.document.solution import read_solution
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.microns.before import kept_by_name
from sluice.subsets.predict import all_curves, pair_latency
from sluice.subsets.problem import problem
from testbed.mesh.presets import SHAPES
from testbed.mesh.presets.deployment import Deployment, deploy
from testbed.mesh.published import rocksteady
from testbed.mesh.run import MeshRun
from testbed.mesh.samples import SETTLE_S, Sample, Window, between, measured, text, window, windows
from testbed.mesh.solution import Solution

WINDOW_S = 60.0
DIFFERENCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
"""Most that others use of the hosts' resources in the deployments that are learnt from; each is drawn on its own."""
WORKLOADS = (0.3, 1.3)
"""Of the one that the containers are sized for."""
VISITS = 300
"""Of a container in a window, or its mu and sigma are not well enough known themselves."""
OTHERS = 4000
"""Added to the seed of a deployment: its requests are not those of any other table."""

Connect = Callable[[str, Deployment, str], Solution]
#: Connections that pairs are judged with, from shape, deployment and samples: those that were profiled, and the
#: solver's own, for which it chose what it believed to be fast.
CONNECTIONS: dict[str, Connect] = {
    "Rocksteady's": lambda shape, how, samples: rocksteady(deploy(SHAPES[shape], how), how.seed),
    "Microns'": lambda shape, how, samples: strategy(MICRONS, samples)(told(shape, how).public(), None),
}


@dataclass(frozen=True)
class Learnt:
    """From one profile: samples as CSV, the model of containers, and the models of pairs by name and pair."""

    samples: str
    containers: LatencyModel
    pairs: dict[str, dict[Names, Model]]


@dataclass(frozen=True)
class Errors:
    """Relative errors, signed. mu: of e^mu; sigma; noise: of e^mu by chance alone, from the visits of each sample.
    pairs: by model, of the pair's 95th percentile."""

    mu: np.ndarray
    sigma: np.ndarray
    noise: np.ndarray
    pairs: dict[str, np.ndarray]


def profile(shape: str, containers: int, combinations: int) -> Learnt:
    """Of DIFFERENCES as many deployments, from which all models learn: the loads of those that are judged have to be
    among those seen, and faster hosts come with more load."""
    samples: list[Sample] = []
    seen: dict[Names, list[PairSeen]] = {}
    for number, difference in enumerate(DIFFERENCES):
        how = Deployment(containers, difference, 1.0, PROFILED_AT + number)
        application = deploy(SHAPES[shape], how)
        connected = rocksteady(application, how.seed)
        for each in windows(application, connected, how.seed, combinations, most_used=difference, workloads=WORKLOADS):
            samples += between(each.before, each.after, each.run.fleet)
            for names, one in pairs_seen(each).items():
                seen.setdefault(names, []).append(one)
    application = deploy(SHAPES[shape], Deployment(containers))
    csv = text(samples)
    names = tuple(sorted(service.name for service in application.services))
    pairs = {model: {pair: _fitted(fit, rows) for pair, rows in seen.items()} for model, fit in MODELS.items()}
    return Learnt(csv, learnt(csv, names), pairs)


def _fitted(fit: Callable[..., Model], rows: list[PairSeen]) -> Model:
    return fit(
        np.array([one.features for one in rows]),
        np.array([one.mean_ms for one in rows]),
        np.array([one.p95_ms for one in rows]),
    )


def judged(shape: str, how: Deployment, known: Learnt, connect: Connect) -> Errors:
    """A minute of a deployment that nobody has learnt from."""
    application = deploy(SHAPES[shape], how)
    solution = connect(shape, how, known.samples)
    run = MeshRun(application, solution, how.seed + OTHERS)
    run.until(SETTLE_S)
    seen = window(run, WINDOW_S)
    hosts = measured(seen.run, seen.before, seen.after)
    public = application.model_copy(update={"hosts": [hosts[host.name] for host in application.hosts]}).public()
    return _errors(public, solution, known, seen)


def _errors(public: dict[str, Any], solution: Solution, known: Learnt, seen: Window) -> Errors:
    samples = [one for one in between(seen.before, seen.after, seen.run.fleet) if one.visits >= VISITS]
    mu, sigma = np.array([_predicted(known.containers, one) for one in samples]).T
    true_mu, true_sigma = np.array([[one.mu, one.sigma] for one in samples]).T
    noise = true_sigma / np.sqrt([one.visits for one in samples]) * np.sqrt(2 / np.pi)
    predicted = {"Microns": _pairs(public, solution, known.containers, seen)}
    truth = pairs_seen(seen)
    for model, by_pair in known.pairs.items():
        predicted[model] = {names: by_pair[names](one.features) for names, one in truth.items() if names in by_pair}
    both = [names for names in truth if all(names in each for each in predicted.values())]
    return Errors(
        np.exp(mu - true_mu) - 1,
        sigma / true_sigma - 1,
        noise,
        {
            model: np.array([by_pair[names] / truth[names].p95_ms - 1 for names in both])
            for model, by_pair in predicted.items()
        },
    )


def _predicted(model: LatencyModel, one: Sample) -> tuple[float, float]:
    mu, sigma = model.of(one.service).curves(np.array([one.utilization])).at(np.array([one.rate_per_s]))
    return float(mu[0]), float(sigma[0])


def _pairs(public: dict[str, Any], solution: Solution, model: LatencyModel, seen: Window) -> dict[Names, float]:
    """As the solver predicts them, from the loads that containers had."""
    asked = problem(read_application(public).application)
    kept = kept_by_name(asked, read_solution(solution.model_dump(by_alias=True)))
    _, got = flow(asked, [each.connections for each in kept if each is not None])
    visits = seen.after.tallies["visits"] - seen.before.tallies["visits"]
    rates = dict(zip(seen.run.fleet.names, visits / WINDOW_S, strict=True))
    work = [np.array([float(rates[name]) for name in fleet.names]) for fleet in asked.fleets]
    found, _ = pair_latency(asked, all_curves(asked, model), work, got)
    names = [(asked.fleets[pair.upstream].service, asked.fleets[pair.downstream].service) for pair in asked.pairs]
    return dict(zip(names, found.tolist(), strict=True))
