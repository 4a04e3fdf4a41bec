"""The subsets of one shard: their published state, and the step in progress.

Everything slow (queries, training, solving) runs in the background. A period only collects the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from sluice.engine.product import ProductShard, Proposal, Takeover
from sluice.engine.records import Heartbeat, Received
from sluice.model.containers import ReportedContainers
from sluice.model.problems import Problems
from sluice.subsets.application import Application
from sluice.subsets.assemble import AssemblyRules, assemble
from sluice.subsets.callers import Adoption, judged, plans
from sluice.subsets.codec import SubsetsCodec
from sluice.subsets.latency.learnt import TrainedModels
from sluice.subsets.latency.training import latency_model
from sluice.subsets.legal import IllegalSubsetsError
from sluice.subsets.liveness import LivenessRules
from sluice.subsets.members import LeftOut, Members, left_out_of, left_out_unseen, members, newer
from sluice.subsets.observed import ObservedApplication
from sluice.subsets.recent import WINDOW_MS, RecentObservation
from sluice.subsets.records import KnownSubsets, SubsetCommit, adoption_in, left_out_in, older_than
from sluice.subsets.section import Subsetting
from sluice.subsets.step import gone, step
from sluice.subsets.training import Training, TrainingSamples
from sluice.subsets.v1 import subset_pb2

EVERY_MS = WINDOW_MS


class SubsetSource(Protocol):
    """Reads from the database. Raises the database's errors."""

    def observed(self, now_ms: int, window_ms: float) -> ObservedApplication: ...

    def samples(self, now_ms: int, learn_ms: float) -> TrainingSamples: ...


@dataclass
class SubsetResources:
    """The resources of a decider for the subsets of all of its shards. background: runs one job at a time."""

    source: SubsetSource
    background: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="subsets"))
    training: Training = field(default_factory=Training)

    def close(self) -> None:
        self.background.shutdown(wait=False, cancel_futures=True)
        self.training.close()


class SubsetsStep(NamedTuple):
    """known: the state once `commit` is committed. failure: an error that the step went on in spite of."""

    known: KnownSubsets
    commit: SubsetCommit
    failure: Exception | None = None


class Notifications(Protocol):
    """Containers that actuators and schedulers report, by service. notified: grows with each new notification."""

    @property
    def notified(self) -> int: ...

    def containers(self) -> Mapping[str, ReportedContainers]: ...


class SubsetsProduct:
    """resources: None in a process that decides no subsets. notifications: from the shard's parts of other products."""

    name, codec = "subsets", SubsetsCodec()

    def __init__(
        self,
        resources: SubsetResources | None,
        notifications: Callable[[Mapping[str, ProductShard]], Notifications],
        problems: Problems,
        measured: Callable[[int], None] = lambda applications: None,
        empty: Callable[[int], None] = lambda subsets: None,
    ) -> None:
        """Of its shards, measured gets the number of applications, empty that of subsets without endpoint."""
        self._resources, self._notifications, self._problems = resources, notifications, problems
        self._measured, self._empty = measured, empty

    def start(self, config: Any) -> None:
        pass

    def restore(self, takeover: Takeover) -> SubsetsShard:
        notifications = self._notifications(takeover.others)
        return SubsetsShard(takeover.config.subsets, takeover.part, notifications, self._resources, self._problems)

    def measure(self, shards: Iterable[ProductShard]) -> None:
        own = [shard for shard in shards if isinstance(shard, SubsetsShard)]
        self._measured(sum(len(shard.configured) for shard in own))
        subsets = (subset for shard in own for subset in shard.known.subsets.values())
        self._empty(sum(not subset.endpoints and subset.state != subset_pb2.STATE_DELETED for subset in subsets))

    def close(self) -> None:
        if self._resources is not None:
            self._resources.close()


class SubsetsShard:
    # Subsets have no lease, a notification may come again, and membership follows it also without a database.
    independent = True

    def __init__(
        self,
        configured: list[Subsetting],
        known: KnownSubsets,
        notifications: Notifications,
        resources: SubsetResources | None,
        problems: Problems,
    ) -> None:
        """configured: one application at most. resources: None in a process that decides nothing."""
        self.configured = configured
        self._known, self._resources, self._problems = known, resources, problems
        self._recent = RecentObservation()
        # Counts of notifications: the newest, of the running step, and of the last step that ended.
        self._notifications, self._notified, self._known_to_job, self._answered = notifications, 0, 0, 0
        self._job: Future[SubsetsStep] | None = None
        self._hurried: Future[SubsetsStep] | None = None
        self._proposal: SubsetsStep | None = None
        self._due_ms = 0

    @property
    def known(self) -> KnownSubsets:
        return self._known

    def configure(self, config: Any) -> None:
        self.configured = config.subsets

    def hear(self, received: Received, now_ms: int) -> bool:
        """Begins the step of a notification. True once: it is done. With the next period it would be up to a second
        late; and the period that the notification begins has queries of its own, beside which the step runs."""
        if self._resources is None or not self.configured or self._notifications.notified <= self._answered:
            return False
        self._begin(now_ms)
        done = None if self._job is None or not self._job.done() else self._job
        # Where the period fails, as without a database, the next one comes when it is due.
        last, self._hurried = self._hurried, done or self._hurried
        return done is not None and done is not last

    def propose(self, received: Received, now_ms: int) -> Proposal:
        if self._resources is None:
            return Proposal()
        if not self.configured:
            return Proposal(self._without(now_ms))
        self._collect()
        self._begin(now_ms)
        self._collect()
        return Proposal(None if self._proposal is None else self._proposal.commit)

    def committed(self, heartbeat: Heartbeat, written: bool) -> None:
        if self._proposal is not None:
            self._known, self._proposal = self._proposal.known, None

    def aborted(self) -> None:
        """The step runs again."""
        if self._proposal is not None:
            self._proposal, self._due_ms = None, 0

    def _begin(self, now_ms: int) -> None:
        """Begins a step, if one is due and the last one is committed. A notification makes it due."""
        if self._notifications.notified > self._notified:
            self._notified, self._due_ms = self._notifications.notified, now_ms
        if self._proposal is not None or self._job is not None or now_ms < self._due_ms:
            return
        assert self._resources is not None
        (subsetting,) = self.configured
        self._due_ms, self._known_to_job = now_ms + EVERY_MS, self._notified
        self._job = self._resources.background.submit(
            _work,
            self._known,
            subsetting,
            self._notifications.containers(),
            self._recent,
            self._resources,
            now_ms,
        )

    def _collect(self) -> None:
        """Takes the result of a step that is done."""
        if self._job is not None and self._job.done():
            job, self._job, self._answered = self._job, None, self._known_to_job
            self._take(job, self.configured[0])

    def _take(self, job: Future[SubsetsStep], subsetting: Subsetting) -> None:
        what = f"subsets of {subsetting.called}"
        try:
            known, commit, failure = job.result()
        except Exception as cause:
            self._problems.failed(what, cause)
            return
        if failure is not None:
            self._problems.failed(what, failure)
        elif commit.problems:
            self._problems.failed(what, IllegalSubsetsError(commit.problems))
        else:
            self._problems.succeeded(what)
        if commit:
            self._proposal = SubsetsStep(known, commit)
        else:
            self._known = known

    def _without(self, now_ms: int) -> SubsetCommit | None:
        self._job = None
        known, commit = gone(self._known, now_ms)
        if not commit:
            return None
        self._proposal = SubsetsStep(known, commit)
        return commit


def _work(
    known: KnownSubsets,
    subsetting: Subsetting,
    reported: Mapping[str, ReportedContainers],
    recent: RecentObservation,
    resources: SubsetResources,
    now_ms: int,
) -> SubsetsStep:
    """One step. Subsets follow membership even if a query, the training or the solver fails."""
    rules = _rules(subsetting, left_out_in(known.state))
    try:
        observed = recent.observed(resources.source, now_ms, subsetting.window)
    except Exception as cause:
        found_s = {name: container.computed_at.ToMilliseconds() / 1000 for name, container in known.containers.items()}
        news = members(ObservedApplication(), newer(reported, found_s), rules.address, rules.liveness)
        known = replace(known, left_out=left_out_unseen(reported, older_than(known, reported)))
        return SubsetsStep(*step(known, subsetting, news, (), None, now_ms), cause)
    out = left_out_of(observed, reported, older_than(known, reported))
    rules, known = _rules(subsetting, out), replace(known, left_out=out)
    there = members(observed, reported, rules.address, rules.liveness)
    known = replace(known, adoption=_adoption(known, observed, there, now_ms))
    if problems := _nothing(observed, subsetting):
        return SubsetsStep(*step(known, subsetting, there, problems, None, now_ms))
    try:
        assembled = assemble(observed, reported, rules)
        app, failure = assembled.application, None
        try:
            learnt = resources.training.newest(
                subsetting.called,
                app,
                lambda: resources.source.samples(now_ms, subsetting.learn),
                subsetting.retrain,
                now_ms,
            )
        except Exception as cause:
            learnt, failure = None, cause
        if learnt is None and known.state is None:
            learnt = _nothing_learnt(app)
        return SubsetsStep(*step(known, subsetting, there, assembled, learnt, now_ms), failure)
    except Exception as cause:
        failed = f"the solver failed: {type(cause).__name__}: {cause}"
        return SubsetsStep(*step(known, subsetting, there, [failed], None, now_ms), cause)


def _adoption(known: KnownSubsets, observed: ObservedApplication, there: Members, now_ms: int) -> Adoption:
    last = adoption_in(known.state) if known.adoption is None else known.adoption
    live = {name: frozenset(one.instance for one in those if not one.drained) for name, those in there.items()}
    return judged(last, plans(known.subsets), observed.calls, live, now_ms / 1000)


def _nothing(observed: ObservedApplication, subsetting: Subsetting) -> list[str]:
    within = f"in the last {subsetting.window / 1000:g} s"
    if not observed.containers:
        return [f"no SERVER or CONSUMER spans {within}: the containers are unknown"]
    if not observed.trees:
        return [f"no call trees {within}: traces are missing"]
    return []


def _nothing_learnt(app: Application) -> TrainedModels:
    return TrainedModels(latency_model({}, [service.name for service in app.services]), 0)


def _rules(subsetting: Subsetting, out: LeftOut) -> AssemblyRules:
    def address(service: str, instance: str, host: str) -> str:
        return subsetting.addresses.get(service, "").format(service=service, instance=instance, host=host)

    return AssemblyRules(
        subsetting.wants,
        address,
        subsetting.quota,
        subsetting.min_subset,
        subsetting.percentile,
        subsetting.keep_in_zone,
        subsetting.prefer_zone,
        LivenessRules(subsetting.gone / 1000, subsetting.report_lease / 1000, out),
    )
