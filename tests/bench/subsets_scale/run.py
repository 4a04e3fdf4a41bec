"""The benchmark `subsets-scale`: the bars of design section 7, growth, and what a change of one service costs."""

from __future__ import annotations

import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.subsets_scale.large import CONTAINERS, HOSTS, KINDS, SERVICES, large, samples
from bench.subsets_scale.transcription import Trained, Transcription
from sluice.subsets.application import Application, Container
from sluice.subsets.churn import churn, named_connections
from sluice.subsets.connections import connections
from sluice.subsets.fleet import fleet, zones
from sluice.subsets.latency.boosted import FREE, RISING, BoostedLatency, boosted, boosted_latency
from sluice.subsets.latency.curves import Curves
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.latency.pooled import unknown_latency
from sluice.subsets.microns.carry import solve_again
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.microns.solve import Solved, solve
from sluice.subsets.predict import all_curves, predict
from sluice.subsets.problem import Problem, problem, with_fleet

Models = tuple[LatencyModel, Mapping[str, Trained]]
CHANGES = 20


@dataclass(frozen=True)
class Timed:
    """Seconds of CPU: of making arrays of the application, the latency curves, and the solution."""

    problem_s: float
    curves_s: float
    solve_s: float


def run(quick: bool) -> str:
    times = [0.1] if quick else [1, 4, 16]
    kinds = [_kind(number) for number in range(4 if quick else KINDS)]
    _warm_up(kinds)
    sizes = []
    for factor in times:
        services = int(SERVICES * factor)
        app = large(services, CONTAINERS, int(HOSTS * factor))
        models = _models(app, kinds)
        timed, solved, even = _ours(app, models[0])
        sizes.append(_size_row(app, solved, timed))
        if factor == times[0]:
            beside = _beside(app, models, solved, even)
            again = _again(app, models[0], solved)
    return "\n".join(
        [
            "A core, training apart. Times are of CPU: curves are what the trained models say of each container over",
            "its load, made once for each solution; the transcription asks its models again and again instead.",
            "",
            *beside,
            "",
            "Growth:",
            "",
            "| services x containers | connections | arrays (s) | curves (s) | solve (s) | memory of arrays (MB) |",
            "|---|---|---|---|---|---|",
            *sizes,
            "",
            f"One container of one service replaced, {CHANGES} times:",
            "",
            *again,
            "",
            "Bars: 2 s on a core; a tenth of the transcription's time at a latency within 1 %; 50 ms for one service.",
        ]
    )


def _kind(number: int) -> tuple[Trained, BoostedLatency]:
    drawn = samples(number)
    mu, sigma = boosted(drawn, drawn.mu, RISING), boosted(drawn, drawn.sigma, FREE)
    return Trained(mu, sigma, float(drawn.rate_per_s.max())), boosted_latency(drawn, mu, sigma)


def _models(app: Application, kinds: Sequence[tuple[Trained, BoostedLatency]]) -> Models:
    kind_of = {item.name: kinds[number % len(kinds)] for number, item in enumerate(app.services)}
    ours = LatencyModel({name: kind[1] for name, kind in kind_of.items()}, unknown_latency(1.0))
    return ours, {name: kind[0] for name, kind in kind_of.items()}


def _warm_up(kinds: Sequence[tuple[Trained, BoostedLatency]]) -> None:
    """What Numba compiles is compiled before it is timed."""
    app = large(6, 8, 10)
    for weights in (True, False):
        posed = problem(app)
        curves = all_curves(posed, _models(app, kinds)[0])
        solved = solve(posed, curves, MicronsSettings(weights=weights))
        solve_again(solved, posed, curves, MicronsSettings(weights=weights))
        predict(posed, curves, solved.solution.subsets)


def _ours(app: Application, model: LatencyModel) -> tuple[Timed, Solved, Solved]:
    """Timed with weights, which is the default; and the solution without."""
    begin = time.process_time()
    posed = problem(app)
    made = time.process_time()
    curves = all_curves(posed, model)
    drawn = time.process_time()
    solved = solve(posed, curves, MicronsSettings())
    done = time.process_time()
    even = solve(posed, curves, MicronsSettings(weights=False))
    return Timed(made - begin, drawn - made, done - drawn), solved, even


def _beside(app: Application, models: Models, solved: Solved, even: Solved) -> list[str]:
    """A row each for ours with weights, without, and the transcription: seconds, iterations, latency by one judge."""
    posed, curves = solved.problem, solved.curves
    begin = time.process_time()
    curves = all_curves(posed, models[0])
    drawn = time.process_time() - begin
    rows = []
    for what, settings in (
        ("Sluice, with weights", MicronsSettings()),
        ("Sluice, without", MicronsSettings(weights=False)),
    ):
        seconds, result = [], even
        for _ in range(3):
            begin = time.process_time()
            result = solve(posed, curves, settings)
            seconds.append(drawn + time.process_time() - begin)
        rows.append((what, min(seconds), result.solution.iterations, _judged(posed, curves, result)))
    begin = time.process_time()
    written = Transcription(posed, models[1])
    subsets, _ = written.solve(app.roots[0].tree)
    took = time.process_time() - begin
    theirs = predict(posed, curves, [connections(subset) for subset in subsets]).mean_ms
    rows.append(("the paper as written", took, written.iterations, theirs))
    lines = ["| what | CPU (s) | of the transcription's | iterations | predicted (ms) | to the transcription's |"]
    lines.append("|---|---|---|---|---|---|")
    for what, seconds_, iterations, whole in rows:
        share = f"{seconds_ / took:.3f}"
        lines.append(f"| {what} | {seconds_:.2f} | {share} | {iterations} | {whole:.1f} | {whole / theirs - 1:+.1%} |")
    return lines


def _judged(posed: Problem, curves: Sequence[Curves], solved: Solved) -> float:
    return predict(posed, curves, solved.solution.subsets).mean_ms


def _again(app: Application, model: LatencyModel, solved: Solved) -> list[str]:
    posed, hosts, numbers = solved.problem, {host.name: host for host in app.hosts}, zones(app.hosts)
    before = named_connections(posed, solved.solution)
    drawn = np.random.default_rng(3)
    seconds, with_prediction, moved = [], [], []
    for number in drawn.choice(np.arange(1, len(app.services)), CHANGES).tolist():
        service = app.services[number]
        new = Container(f"{service.name}-new", app.hosts[number % len(app.hosts)].name)
        begin = time.process_time()
        changed = fleet(replace(service, containers=(*service.containers[1:], new)), hosts, numbers)
        now = with_fleet(posed, changed)
        at = [fleet.service for fleet in now.fleets].index(service.name)
        curves = list(solved.curves)
        curves[at] = model.of(service.name).curves(changed.contention)
        result = solve_again(solved, now, curves, MicronsSettings())
        seconds.append(time.process_time() - begin)
        predict(now, curves, result.solution.subsets)
        with_prediction.append(time.process_time() - begin)
        moved.append(churn(before, named_connections(now, result.solution)))
    return [
        "| what | median | worst |",
        "|---|---|---|",
        f"| solved again (ms of CPU) | {_ms(seconds, 50)} | {_ms(seconds, 100)} |",
        f"| and predicted | {_ms(with_prediction, 50)} | {_ms(with_prediction, 100)} |",
        f"| connections that changed | {np.median(moved):.3%} | {max(moved):.3%} |",
    ]


def _ms(seconds: Sequence[float], percent: float) -> str:
    return f"{1000 * float(np.percentile(seconds, percent)):.1f}"


def _size_row(app: Application, solved: Solved, timed: Timed) -> str:
    arrays = sum(curve.mu.nbytes + curve.sigma.nbytes for curve in solved.curves)
    arrays += sum(subset.to.nbytes + subset.share.nbytes for subset in solved.solution.subsets)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    containers = len(app.services[0].containers)
    size = f"{len(app.services)} x {containers}"
    return (
        f"| {size} | {solved.problem.quota:,} | {timed.problem_s:.2f} | {timed.curves_s:.2f} | {timed.solve_s:.2f} |"
        f" {arrays / 1e6:.0f} (process: {peak:.0f}) |"
    )
