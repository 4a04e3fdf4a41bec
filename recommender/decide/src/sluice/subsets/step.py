"""One step of an application: from the published state and the observations to the next state and its records. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sluice.model.times import timestamp
from sluice.subsets import publication as words
from sluice.subsets.application import Application, Host
from sluice.subsets.assemble import Assembled
from sluice.subsets.churn import NamedConnections
from sluice.subsets.explanation import explanations, run_message
from sluice.subsets.latency.learnt import TrainedModels
from sluice.subsets.legal import IllegalSubsetsError
from sluice.subsets.members import Members
from sluice.subsets.membership import ConnectionLimits
from sluice.subsets.microns.settings import MicronsSettings
from sluice.subsets.plan import plan
from sluice.subsets.records import KnownSubsets, SubsetCommit, SubsetRecords
from sluice.subsets.section import Subsetting
from sluice.subsets.state import Cause, Inputs, SolverRun, SolverTrigger, SubsetState
from sluice.subsets.v1 import explanation_pb2, log_pb2, subset_pb2

#: Causes that make a change of connections necessary.
NEEDED = (Cause.SCALING, Cause.START)


def step(
    known: KnownSubsets,
    asked: Subsetting,
    members: Members,
    seen: Assembled | Sequence[str],
    learnt: TrainedModels | None,
    now_ms: int,
) -> tuple[KnownSubsets, SubsetCommit]:
    """Runs the planner, or follows membership where that is not possible.

    members: the present containers, as far as they are known; subsets follow them in any case. seen: the application to
    solve, or the problems of the inputs. learnt: None until the first model is trained; connections stay until then. It
    must not be None where nothing was published yet.
    """
    if not isinstance(seen, Assembled):
        return _held(known, asked, members, seen, None, now_ms)
    app = seen.application
    if learnt is None:
        return _held(known, asked, members, (), app, now_ms)
    before = known.solved
    if before is None and known.state is not None:
        inputs = _inputs(asked, seen, learnt, words.connections(known.subsets.values()))
    else:
        inputs = _inputs(asked, seen, learnt, None)
    try:
        solved, run = plan(before, inputs, now_ms / 1000)
    except IllegalSubsetsError as cause:
        return _held(known, asked, members, cause.problems, app, now_ms)
    assert solved is not None
    if solved.held:
        return _held(replace(known, solved=solved), asked, members, solved.held, app, now_ms)
    if run is None:
        if known.state is not None and known.state.HasField("held_since"):
            return _said(replace(known, solved=solved), asked, app, None, learnt, now_ms)
        return replace(known, solved=solved), SubsetCommit()
    if before is None:
        solved = _since(solved, known.state, now_ms)
    return _said(replace(known, solved=solved), asked, app, run, learnt, now_ms)


def gone(known: KnownSubsets, now_ms: int) -> tuple[KnownSubsets, SubsetCommit]:
    """Deletes the subsets of an application that is no longer configured."""
    ended = [made for each in known.subsets.values() for made in words.ended(each, now_ms)]
    said = SubsetRecords(ended, dict.fromkeys(known.containers))
    states = {} if known.state is None else {known.state.application: None}
    return KnownSubsets({**known.subsets, **words.by_key(ended)}), SubsetCommit(said, (), None, states)


def _inputs(asked: Subsetting, seen: Assembled, learnt: TrainedModels, before: NamedConnections | None) -> Inputs:
    return Inputs(
        seen.application,
        learnt.model,
        MicronsSettings(churn_budget=asked.churn_budget),
        SolverTrigger(asked.quiet / 1000, asked.drift),
        asked.strategy,
        seen.missing,
        before,
        seen.measured,
    )


def _said(
    known: KnownSubsets, asked: Subsetting, app: Application, run: SolverRun | None, learnt: TrainedModels, now_ms: int
) -> tuple[KnownSubsets, SubsetCommit]:
    """Publishes the solution. run: None where the solution stays and is no longer held."""
    solved = known.solved
    assert solved is not None
    made = list(words.of_state(solved, app, known.subsets, now_ms))
    containers = words.containers(app, known.containers, now_ms)
    state = log_pb2.ApplicationState(
        application=asked.called,
        improved_at=timestamp(round(solved.at_s * 1000)),
        hosts=[
            log_pb2.HostContention(
                host=each.name, cpu=each.cpu, memory_bandwidth=each.memory_bandwidth, network=each.network
            )
            for each in solved.application.hosts
        ],
    )
    pairs: list[explanation_pb2.PairExplanation] = []
    told = None
    if run is not None:
        told = run_message(solved, run, asked.churn_budget, now_ms)
        pairs = list(explanations(solved, app, learnt, asked.called))
        state.last_run.CopyFrom(told)
    elif known.state is not None:
        state.last_run.CopyFrom(known.state.last_run)
    after = KnownSubsets(
        {**known.subsets, **words.by_key(made)},
        {name: each for name, each in {**known.containers, **containers}.items() if each is not None},
        state,
        solved,
    )
    return after, SubsetCommit(SubsetRecords(made, containers), pairs, told, {asked.called: state})


def _held(
    known: KnownSubsets,
    asked: Subsetting,
    members: Members,
    problems: Sequence[str],
    app: Application | None,
    now_ms: int,
) -> tuple[KnownSubsets, SubsetCommit]:
    """Keeps the published connections, adapted to the present containers. problems: empty where the step only waits for
    a model."""
    bounds = ConnectionLimits(asked.quota, asked.min_subset, asked.keep_in_zone)
    made = list(words.followed(known.subsets, members, bounds, problems, now_ms))
    services = () if app is None else [each.name for each in app.services]
    containers = words.members_of(members, known.containers, services, now_ms)
    state = last = known.state
    if problems and last is not None and not last.HasField("held_since"):
        state = log_pb2.ApplicationState()
        state.CopyFrom(last)
        state.held_since.CopyFrom(timestamp(now_ms))
    after = replace(
        known,
        subsets={**known.subsets, **words.by_key(made)},
        containers={**known.containers, **{name: each for name, each in containers.items() if each is not None}},
        state=state,
        # The next solution continues from the published connections, as after a restart.
        solved=None if _moved(known, made) else known.solved,
    )
    changed = {asked.called: state} if state is not known.state else {}
    return after, SubsetCommit(SubsetRecords(made, containers), (), None, changed, tuple(problems))


def _moved(known: KnownSubsets, made: Sequence[subset_pb2.Subset]) -> bool:
    """Whether the connections differ from the published ones."""
    was = {key: {end.instance for end in each.endpoints} for key, each in known.subsets.items()}
    return any({end.instance for end in each.endpoints} != was.get(key) for key, each in words.by_key(made).items())


def _since(solved: SubsetState, before: log_pb2.ApplicationState | None, now_ms: int) -> SubsetState:
    """The state with the quiet time and the contention of the process that decided before."""
    if before is None:
        return solved
    hosts = {each.host: each for each in before.hosts}

    def then(now: Host) -> Host:
        was = hosts.get(now.name)
        if was is None:
            return now
        return replace(now, cpu=was.cpu, memory_bandwidth=was.memory_bandwidth, network=was.network)

    application = replace(solved.application, hosts=tuple(map(then, solved.application.hosts)))
    at_s = min(now_ms, before.improved_at.ToMilliseconds()) / 1000
    return replace(solved, application=application, at_s=at_s)
