"""Explains the connections of pairs, as journal records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from sluice.model.keys import SubsetKey
from sluice.model.times import timestamp
from sluice.subsets.adoption import AdoptionVerdict
from sluice.subsets.application import Application
from sluice.subsets.callers import Adoption
from sluice.subsets.connections import flow, free
from sluice.subsets.fleet import Floats
from sluice.subsets.latency.learnt import TrainedModels
from sluice.subsets.microns.reference import target_of
from sluice.subsets.predict import pair_latency
from sluice.subsets.sample_range import range_notes
from sluice.subsets.state import SolverRun, SubsetState
from sluice.subsets.trees import end_to_end_latency, parts
from sluice.subsets.v1 import explanation_pb2

#: The most downstream containers that one explanation names, the slowest ones, and the most callers. 1,000 take less
#: than 200 kB.
MOST_CONTAINERS = 1_000


def run_message(
    state: SubsetState, run: SolverRun, adoption: Adoption, churn_budget: float, now_ms: int
) -> explanation_pb2.Run:
    solution, problem = state.solved.solution, state.solved.problem
    callers = Counter(adoption.verdicts.values())
    message = explanation_pb2.Run(
        strategy=solution.strategy,
        at=timestamp(now_ms),
        cause=run.cause.value,
        iterations=solution.iterations,
        converged=solution.converged,
        quota=sum(len(subset) for subset in solution.subsets),
        churn=run.churn,
        churn_budget=churn_budget,
        missing=list(state.missing),
        notes=[*run.notes, *solution.notes, *range_notes(problem, state.solved.curves, state.solved.work)],
        moved=run.moved,
        stale_hosts=run.stale.hosts,
        stale_pairs=run.stale.pairs,
        callers_following=callers[AdoptionVerdict.FOLLOWS],
        callers_not_following=callers[AdoptionVerdict.NOT_FOLLOWING],
        callers_unknown=callers[AdoptionVerdict.UNKNOWN],
    )
    if state.model.known:
        latency, _ = _latency(state)
        message.predicted_ms = end_to_end_latency(problem.trees, latency)
    return message


def explanations(
    state: SubsetState, application: Application, learnt: TrainedModels, adoption: Adoption, name: str
) -> Iterator[explanation_pb2.PairExplanation]:
    """The explanation of each pair. The gradient is the slope to the quota at which more connections gain nothing."""
    problem, solved, known = state.solved.problem, state.solved, state.model.known
    latency, got = _latency(state)
    best, full = _best(state), _full(state)
    reaches = parts(problem.trees, latency)
    slowness = _slowness(state)
    for number, pair in enumerate(problem.pairs):
        above, below = problem.fleets[pair.upstream], problem.fleets[pair.downstream]
        quota = len(solved.solution.subsets[number])
        message = explanation_pb2.PairExplanation(
            pair=explanation_pb2.Pair(upstream=above.service, downstream=below.service),
            rate_per_s=pair.rate_per_s,
            quota=quota,
            least=pair.fewest,
            most=pair.all,
            reaches=float(reaches[number]),
            basis=state.model.of(below.service).basis,
            application=name,
            model_version=learnt.version,
            percentile=problem.percentile,
        )
        if adoption.verdicts:
            message.adoption.CopyFrom(_adoption(state, number, adoption))
        if known:
            message.predicted_ms, message.best_ms = float(latency[number]), float(best[number])
            message.fully_connected_ms = float(full[number])
            if pair.all > quota:
                message.gradient_ms = float(min(best[number] - latency[number], 0.0)) / (pair.all - quota)
        if (how := learnt.accuracy.get(below.service)) is not None:
            message.mu_error, message.sigma_error, message.pair_error = how.mu, how.sigma, how.pair
            message.held_out_samples = how.samples
        message.containers.extend(_loads(state, application, number, got[number], slowness[pair.downstream]))
        yield message


def _adoption(state: SubsetState, number: int, adoption: Adoption) -> explanation_pb2.Adoption:
    """The verdicts of now, and the part of the calls that the solution takes as fixed."""
    problem = state.solved.problem
    pair = problem.pairs[number]
    above, below = problem.fleets[pair.upstream], problem.fleets[pair.downstream]
    verdicts = {
        name: adoption.verdicts.get(SubsetKey(above.service, name, below.service), AdoptionVerdict.UNKNOWN)
        for name in above.names
    }
    callers = Counter(verdicts.values())
    outside = [name for name, verdict in verdicts.items() if verdict is AdoptionVerdict.NOT_FOLLOWING]
    sent = state.solved.work[pair.upstream]
    return explanation_pb2.Adoption(
        following=callers[AdoptionVerdict.FOLLOWS],
        not_following=callers[AdoptionVerdict.NOT_FOLLOWING],
        unknown=callers[AdoptionVerdict.UNKNOWN],
        not_following_instances=outside[:MOST_CONTAINERS],
        fixed_share=float((sent - free(pair, sent)).sum() / max(sent.sum(), 1e-300)),
    )


def _latency(state: SubsetState) -> tuple[Floats, list[Floats]]:
    solved = state.solved
    work, got = flow(solved.problem, solved.solution.subsets)
    return pair_latency(solved.problem, solved.curves, work, got)[0], got


def _best(state: SubsetState) -> Floats:
    """Latency of pairs with an unlimited number of connections, that is, with the optimal loads. For strategies that do
    not compute these: the present latency."""
    solved = state.solved
    if not solved.references:
        return _latency(state)[0]
    best = state.best or solved.references
    work = [reference.load for reference in best]
    got = [target_of(solved.problem, number, best[pair.downstream]) for number, pair in enumerate(solved.problem.pairs)]
    return pair_latency(solved.problem, solved.curves, work, got)[0]


def _full(state: SubsetState) -> Floats:
    """Latency of pairs with full connection and equal shares."""
    problem = state.solved.problem
    rate = problem.rate_per_s
    work = [np.full(len(fleet), calls / len(fleet)) for fleet, calls in zip(problem.fleets, rate, strict=True)]
    got = [np.full(pair.containers, pair.rate_per_s / pair.containers) for pair in problem.pairs]
    return pair_latency(problem, state.solved.curves, work, got)[0]


def _slowness(state: SubsetState) -> list[Floats]:
    """The latency of each container at the percentile, under its load, in ms."""
    from scipy.special import ndtri

    z = float(ndtri(state.solved.problem.percentile))
    latencies = []
    for curves, load in zip(state.solved.curves, state.solved.work, strict=True):
        mu, sigma = curves.at(load)
        latencies.append(np.exp(mu + z * sigma))
    return latencies


def _loads(
    state: SubsetState, application: Application, number: int, got: Floats, slowness: Floats
) -> Iterator[explanation_pb2.ContainerLoad]:
    """The containers of the downstream service, ordered by name."""
    solved = state.solved
    pair = solved.problem.pairs[number]
    below = solved.problem.fleets[pair.downstream]
    hosts = {
        container.name: container.host
        for service in application.services
        if service.name == below.service
        for container in service.containers
    }
    connected = np.bincount(solved.solution.subsets[number].to, minlength=len(below))
    work = solved.work[pair.downstream]
    references = state.best or solved.references
    best = references[pair.downstream].load if references else work
    for at in sorted(np.argsort(-slowness, kind="stable")[:MOST_CONTAINERS].tolist()):
        cpu, memory, network = below.contention[at].tolist()
        load = explanation_pb2.ContainerLoad(
            instance=below.names[at],
            host=hosts.get(below.names[at], ""),
            cpu=cpu,
            memory_bandwidth=memory,
            network=network,
            rate_per_s=float(work[at]),
            best_rate_per_s=float(best[at]),
            connections=int(connected[at]),
        )
        if state.model.known:
            load.latency_ms = float(slowness[at])
        yield load
