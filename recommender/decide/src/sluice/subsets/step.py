"""One step of an application: from the published state and the observations to the next state and its records. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sluice.model.keys import SubsetKey
from sluice.model.times import timestamp
from sluice.subsets import publication
from sluice.subsets.adoption import AdoptionVerdict
from sluice.subsets.application import Application, Host
from sluice.subsets.assemble import Assembled
from sluice.subsets.callers import Adoption
from sluice.subsets.churn import NamedConnections
from sluice.subsets.explanation import explanations, run_message
from sluice.subsets.latency.learnt import TrainedModels
from sluice.subsets.legal import IllegalSubsetsError
from sluice.subsets.members import Members
from sluice.subsets.membership import ConnectionLimits
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.plan import plan
from sluice.subsets.records import KnownSubsets, SubsetCommit, SubsetRecords, adoption_in, left_out_in, not_following
from sluice.subsets.section import Subsetting
from sluice.subsets.state import Cause, Inputs, SolverRun, SolverTrigger, SubsetState
from sluice.subsets.v1 import explanation_pb2, log_pb2, subset_pb2

#: Causes that make a change of connections necessary.
NEEDED = (Cause.SCALING, Cause.START)


def step(
    known: KnownSubsets,
    subsetting: Subsetting,
    members: Members,
    assembled: Assembled | Sequence[str],
    learnt: TrainedModels | None,
    now_ms: int,
) -> tuple[KnownSubsets, SubsetCommit]:
    """Runs the planner, or follows membership where that is not possible.

    members: the live containers, as far as they are known; subsets follow them in any case. assembled: the
    application to solve, or the problems of the inputs. learnt: None until the first model is trained; connections stay
    until then. It must not be None where nothing was published yet.
    """
    if not isinstance(assembled, Assembled):
        return _keep_published(known, subsetting, members, assembled, None, now_ms)
    app = assembled.application
    if learnt is None:
        return _keep_published(known, subsetting, members, (), app, now_ms)
    previous = known.solved
    if previous is None and known.state is not None:
        inputs = _inputs(known, subsetting, assembled, learnt, publication.connections(known.subsets.values()))
    else:
        inputs = _inputs(known, subsetting, assembled, learnt, None)
    try:
        solved, run = plan(previous, inputs, now_ms / 1000)
    except IllegalSubsetsError as cause:
        return _keep_published(known, subsetting, members, cause.problems, app, now_ms)
    assert solved is not None
    if solved.problems:
        return _keep_published(replace(known, solved=solved), subsetting, members, solved.problems, app, now_ms)
    if run is None:
        if known.state is not None and known.state.HasField("held_since"):
            return _publish_solution(replace(known, solved=solved), subsetting, app, None, learnt, now_ms)
        return _keep_solution(replace(known, solved=solved), subsetting, app, learnt, now_ms)
    if previous is None:
        solved = _since(solved, known.state, now_ms)
    return _publish_solution(replace(known, solved=solved), subsetting, app, run, learnt, now_ms)


def gone(known: KnownSubsets, now_ms: int) -> tuple[KnownSubsets, SubsetCommit]:
    """Deletes the subsets of an application that is no longer configured."""
    ended = [deleted for subset in known.subsets.values() for deleted in publication.ended(subset, now_ms)]
    published = SubsetRecords(ended, dict.fromkeys(known.containers))
    states = {} if known.state is None else {known.state.application: None}
    return KnownSubsets({**known.subsets, **publication.by_key(ended)}), SubsetCommit(published, (), None, states)


def _inputs(
    known: KnownSubsets,
    subsetting: Subsetting,
    assembled: Assembled,
    learnt: TrainedModels,
    previous: NamedConnections | None,
) -> Inputs:
    return Inputs(
        assembled.application,
        learnt.model,
        MicronsSettings(churn_budget=subsetting.churn_budget),
        SolverTrigger(subsetting.quiet / 1000, subsetting.drift),
        subsetting.strategy,
        assembled.missing,
        previous,
        assembled.measured,
        _adoption(known).fixed,
    )


def _adoption(known: KnownSubsets) -> Adoption:
    return adoption_in(known.state) if known.adoption is None else known.adoption


def _publish_solution(
    known: KnownSubsets,
    subsetting: Subsetting,
    app: Application,
    run: SolverRun | None,
    learnt: TrainedModels,
    now_ms: int,
) -> tuple[KnownSubsets, SubsetCommit]:
    """Publishes the solution. run: None where the solution stays and is no longer held."""
    solved = known.solved
    assert solved is not None
    subsets = list(publication.of_state(solved, app, known.subsets, now_ms))
    containers = publication.containers(app, known.containers, now_ms)
    state = log_pb2.ApplicationState(
        application=subsetting.called,
        improved_at=timestamp(round(solved.at_s * 1000)),
        hosts=[
            log_pb2.HostContention(
                host=host.name, cpu=host.cpu, memory_bandwidth=host.memory_bandwidth, network=host.network
            )
            for host in solved.application.hosts
        ],
        left_out=_left_out(known),
        not_following=not_following(_adoption(known)),
    )
    pairs: list[explanation_pb2.PairExplanation] = []
    message = None
    if run is not None:
        message = run_message(solved, run, _adoption(known), subsetting.churn_budget, now_ms)
        pairs = list(explanations(solved, app, learnt, _adoption(known), subsetting.called))
        state.last_run.CopyFrom(message)
    elif known.state is not None:
        state.last_run.CopyFrom(known.state.last_run)
    after = KnownSubsets(
        {**known.subsets, **publication.by_key(subsets)},
        {name: value for name, value in {**known.containers, **containers}.items() if value is not None},
        state,
        solved,
        adoption=known.adoption,
        explained=known.explained if run is None else _clear(_adoption(known)),
    )
    return after, SubsetCommit(SubsetRecords(subsets, containers), pairs, message, {subsetting.called: state})


def _keep_solution(
    known: KnownSubsets, subsetting: Subsetting, app: Application, learnt: TrainedModels, now_ms: int
) -> tuple[KnownSubsets, SubsetCommit]:
    """Connections stay. Published are the containers whose readiness changed, those that a report left out, where spans
    no longer show one of them, and the explanations, where other callers follow."""
    changes = publication.containers(app, known.containers, now_ms)
    ready = {name: value for name, value in changes.items() if value is not None}
    if ready:
        known = replace(known, containers={**known.containers, **ready})
    published = SubsetRecords(containers=dict(ready))
    if known.state is None:
        return known, SubsetCommit(published)
    state, adoption = _with_left_out(known, known.state), _adoption(known)
    if _clear(adoption) == known.explained:
        if state is known.state:
            return known, SubsetCommit(published)
        return replace(known, state=state), SubsetCommit(published, states={subsetting.called: state})
    after = log_pb2.ApplicationState()
    after.CopyFrom(state)
    del after.not_following[:]
    after.not_following.extend(not_following(adoption))
    assert known.solved is not None
    pairs = list(explanations(known.solved, app, learnt, adoption, subsetting.called))
    commit = SubsetCommit(published, pairs=pairs, states={subsetting.called: after})
    return replace(known, state=after, explained=_clear(adoption)), commit


def _clear(adoption: Adoption) -> dict[SubsetKey, AdoptionVerdict]:
    return {key: verdict for key, verdict in adoption.verdicts.items() if verdict is not AdoptionVerdict.UNKNOWN}


def _with_left_out(known: KnownSubsets, state: log_pb2.ApplicationState) -> log_pb2.ApplicationState:
    """The same object where nothing changed."""
    if known.left_out is None or left_out_in(state) == known.left_out:
        return state
    after = log_pb2.ApplicationState()
    after.CopyFrom(state)
    del after.left_out[:]
    after.left_out.extend(_left_out(known))
    return after


def _left_out(known: KnownSubsets) -> list[log_pb2.LeftOut]:
    those = left_out_in(known.state) if known.left_out is None else known.left_out
    return [log_pb2.LeftOut(service=name, instances=sorted(those[name])) for name in sorted(those)]


def _keep_published(
    known: KnownSubsets,
    subsetting: Subsetting,
    members: Members,
    problems: Sequence[str],
    app: Application | None,
    now_ms: int,
) -> tuple[KnownSubsets, SubsetCommit]:
    """Keeps the published connections, adapted to the live containers. problems: empty where the step only waits for
    a model."""
    bounds = ConnectionLimits(subsetting.quota, subsetting.min_subset, subsetting.keep_in_zone)
    subsets = list(publication.followed(known.subsets, members, bounds, problems, now_ms))
    services = () if app is None else [service.name for service in app.services]
    containers = publication.members_of(members, known.containers, services, now_ms)
    state = last = known.state
    if last is not None:
        state = _with_left_out(known, last)
        if problems and not last.HasField("held_since"):
            state = log_pb2.ApplicationState.FromString(state.SerializeToString())
            state.held_since.CopyFrom(timestamp(now_ms))
    after = replace(
        known,
        subsets={**known.subsets, **publication.by_key(subsets)},
        containers={
            **known.containers,
            **{name: container for name, container in containers.items() if container is not None},
        },
        state=state,
        # The next solution continues from the published connections, as after a restart.
        solved=None if _moved(known, subsets) else known.solved,
    )
    changed = {subsetting.called: state} if state is not known.state else {}
    return after, SubsetCommit(SubsetRecords(subsets, containers), (), None, changed, tuple(problems))


def _moved(known: KnownSubsets, subsets: Sequence[subset_pb2.Subset]) -> bool:
    """Whether the connections differ from the published ones."""
    was = {key: {end.instance for end in subset.endpoints} for key, subset in known.subsets.items()}
    return any(
        {end.instance for end in subset.endpoints} != was.get(key)
        for key, subset in publication.by_key(subsets).items()
    )


def _since(solved: SubsetState, last: log_pb2.ApplicationState | None, now_ms: int) -> SubsetState:
    """The state with the quiet time and the contention of the process that decided before."""
    if last is None:
        return solved
    hosts = {host.host: host for host in last.hosts}

    def then(now: Host) -> Host:
        was = hosts.get(now.name)
        if was is None:
            return now
        return replace(now, cpu=was.cpu, memory_bandwidth=was.memory_bandwidth, network=was.network)

    application = replace(solved.application, hosts=tuple(map(then, solved.application.hosts)))
    at_s = min(now_ms, last.improved_at.ToMilliseconds()) / 1000
    return replace(solved, application=application, at_s=at_s)
