"""The pools of one shard: their state, and their part of a control period."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sluice.engine.product import Proposal, Takeover
from sluice.engine.records import Heartbeat, Received
from sluice.model.keys import PoolKey
from sluice.model.states import State
from sluice.pools.commit import PoolRecords, PoolsCommit
from sluice.pools.counts import PoolMetrics
from sluice.pools.discovery.discovering import Discovering
from sluice.pools.guard.turns import paths
from sluice.pools.inputs.operator_inputs import DurableInputs, OperatorInputs
from sluice.pools.inputs.scalings import Scalings
from sluice.pools.metrics.in_force import sizes_in_force, targets_of
from sluice.pools.metrics.metric_sizes import MetricSizes
from sluice.pools.nearest.unfit import UnfitPools
from sluice.pools.period.acquisition import Acquisition
from sluice.pools.period.catching_up import caught_up
from sluice.pools.period.clock_offsets import ShardClocks
from sluice.pools.period.decide import decide
from sluice.pools.period.demands import Demands
from sluice.pools.period.derived_thresholds import DerivedThresholds
from sluice.pools.period.freshness import Freshness
from sluice.pools.period.history import History
from sluice.pools.period.inputs import PeriodInputs
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.source import WindowSource
from sluice.pools.period.thresholds import Thresholds
from sluice.pools.period.upstream_times import ShardUpstreamTimes
from sluice.pools.policy.state import PoolState
from sluice.pools.pool_step import PoolStep
from sluice.pools.publication.alarms import Alarms
from sluice.pools.publication.leases import Leases
from sluice.pools.publication.publication import AWAITED, Publication, undecided
from sluice.pools.publication.publisher import Publisher
from sluice.pools.publication.schedule import WriteSchedule
from sluice.pools.roles.shard_roles import ShardRoles
from sluice.pools.sampling.service_samplings import ServiceSamplings
from sluice.pools.section import PoolsSection

log = logging.getLogger(__name__)


class _Period(NamedTuple):
    """The result of a period. It holds only once it is committed."""

    commit: PoolsCommit
    states: Mapping[PoolKey, PoolState]
    not_renewed: frozenset[PoolKey]


class PoolsShard:
    independent = False

    def __init__(
        self,
        takeover: Takeover,
        collector: WindowSource,
        resources: PoolResources,
        history: Callable[[], History] | None,
        counts: PoolMetrics | None,
    ) -> None:
        """takeover: `part` has `PoolRecords`."""
        records: PoolRecords = takeover.part
        now_ms = takeover.now_ms
        self._declared: PoolsSection = takeover.config
        self._discovering = Discovering(records.candidates, resources.room)
        self._collector, self._resources, self._history, self._counts = collector, resources, history, counts
        self._operator_inputs, self._received_to = OperatorInputs(records, now_ms), 0
        self._states = records.states.states()
        self._publisher = Publisher(records.decisions)
        self._alarms = Alarms({key: content.codes for key, content in self._publisher.contents.items()})
        self._schedule = WriteSchedule()
        self._schedule.restored(records.states)
        self._leases = Leases(takeover.heartbeat)
        self._freshness = Freshness(records.states.evidence, now_ms)
        self._thresholds, self._demands = Thresholds(), Demands()
        self._metrics, self._derived = MetricSizes(), DerivedThresholds(records.decisions)
        self._unfit = UnfitPools()
        self._roles = ShardRoles()
        self._samplings = ServiceSamplings()
        self.clocks, self._upstream = ShardClocks(), ShardUpstreamTimes()
        self._paths: tuple[PoolsSection, list[set[PoolKey]]] | None = None
        self._acquisition = Acquisition()
        self._caught_up = False
        self._period: _Period | None = None

    @property
    def config(self) -> PoolsSection:
        """The configuration of the shard, with the pools that it found."""
        return self._discovering.config(self._declared)

    @property
    def states(self) -> Mapping[PoolKey, PoolState]:
        """The state of each pool."""
        return self._states

    @property
    def answers(self) -> Mapping[PoolKey, Publication]:
        """The newest answer of each pool."""
        return self._publisher.answers

    @property
    def alarms(self) -> Mapping[PoolKey, str]:
        """Pools in an alarm, with the name of the case."""
        return self._alarms.of

    @property
    def scalings(self) -> Scalings:
        """The notifications of hardware autoscalers."""
        return self._operator_inputs.scalings

    def configure(self, config: PoolsSection) -> None:
        self._declared = config

    def hear(self, received: Received, now_ms: int) -> bool:
        """Takes inputs between two periods: only a target's newest size waits. True: a pause, a resume or a scaling."""
        last, self._received_to = self._received_to, received.offset
        changes = self._operator_inputs.take(received)
        return received.offset > last and bool(changes.pauses or changes.scalings)

    def propose(self, received: Received, now_ms: int) -> Proposal:
        """Runs a period: query -> observation -> evidence -> outlook -> decision -> record.

        Raises the collector's errors: then no lease is renewed, and leases end.
        """
        changes = self._take(received)
        inputs = self._inputs(now_ms)
        window = self._collector.collect(inputs.config, inputs.thresholds_ns, now_ms)
        inputs = self._with_measurements(inputs)
        states: dict[PoolKey, PoolState] = {}
        # Publications of decided pools are made while others are still being decided.
        answers = self._answers_of(decide(inputs, window, self._resources), states)
        keys = [pool.key for pool in inputs.config.pools]
        commit = self._publisher.publish(answers, keys, now_ms)
        not_renewed = frozenset(keys) - self._publisher.renewed.keys()
        due = dict(self._schedule.of({**self._states, **states}))
        candidates, critical = self._discovering.due(), self._resources.critical.unwritten()
        commit = replace(commit, states=due, pauses=changes.pauses, scalings=changes.scalings)
        commit = replace(commit, candidates=candidates, critical=critical)
        self._period = _Period(commit, states, not_renewed)
        return Proposal(commit, self._leases.of(not_renewed))

    def committed(self, heartbeat: Heartbeat, written: bool) -> None:
        """Keeps the period. Logs the pools that entered an alarm."""
        period, self._period = self._period, None
        if period is None:
            return
        self._states |= period.states
        pools, answers = {pool.key for pool in self.config.pools}, self._publisher.renewed
        self._publisher.committed(pools)
        self._discovering.committed()
        if written:
            self._history = None
            self._leases.renewed(heartbeat, period.not_renewed)
        entered = self._alarms.look(answers.values(), pools)
        for alarm in entered:
            log.warning("%s: %s: %s", alarm.key, alarm.case, alarm.text)
        if self._counts is not None:
            self._counts.decided(len(answers), len(period.not_renewed))
            self._counts.entered(entered)
            if written:
                self._counts.written(period.commit)

    def aborted(self) -> None:
        if self._period is not None:
            self._schedule.again(self._period.commit.states)
            self._publisher.aborted()
            self._period = None

    def _take(self, received: Received) -> DurableInputs:
        """Takes the inputs since the last period; in the first one without a journal, also those of the history."""
        self._received_to = received.offset
        changes = self._operator_inputs.take(received)
        return changes if self._history is None else self._take_up(self._history())

    def _take_up(self, history: History) -> DurableInputs:
        keys, discovery = {pool.key for pool in self.config.pools}, self._declared.discovery
        # Pools that were found once may be found again.
        keys |= {key for key in history.revisions if discovery is not None and discovery.selects(key)}
        self._publisher.continue_from({key: last for key, last in history.revisions.items() if key in keys})
        pauses = {key: pause for key, pause in history.pauses.items() if key in keys}
        return self._operator_inputs.take_up(pauses, history.scalings)

    def _inputs(self, now_ms: int) -> PeriodInputs:
        """The inputs that the period's query needs. The first period also learns the windows since the last decider."""
        problems = self._resources.problems
        self._discover(now_ms)
        config = self.config
        upstream = self._upstream.of(config, self._collector, now_ms, problems)
        self._samplings.look(config, self._collector, now_ms, problems)
        sizes = self._operator_inputs.sizes
        targets = {pool.key: targets_of(pool.key, sizes, self._metrics, now_ms) for pool in config.pools}
        in_force = partial(sizes_in_force, targets, sizes, self._metrics)
        derived = self._derived.of(config, self._collector, in_force, now_ms, self._resources)
        thresholds = self._thresholds.of(config, upstream, now_ms, derived, targets)
        self.clocks.look(config, self._collector, now_ms, problems)
        self._resources.critical.look(now_ms, self._resources.background, problems)
        inputs = PeriodInputs(
            config=config,
            now_ms=now_ms,
            paths=self._path_sets(config),
            states=self._states,
            operator_inputs=self._operator_inputs,
            freshness=self._freshness,
            targets=targets,
            thresholds=thresholds,
            metrics=self._metrics,
            held=self._resources.critical.held,
            roles=self._roles.of,
            samplings=self._samplings,
        )
        if not self._caught_up:
            self._states = caught_up(inputs, self._collector, self._resources)
            self._caught_up = True
        return inputs._replace(states=self._states)

    def _discover(self, now_ms: int) -> None:
        """Reads candidates, reads of all pools and candidates the sizes in metrics and the roles of spans, and finds
        pools by them."""
        declared, discovering, problems = self._declared, self._discovering, self._resources.problems
        discovering.look(declared, self._collector, now_ms, problems)
        watched = discovering.watched(declared)
        self._metrics.look(watched, self._collector, now_ms, self._resources)
        self._roles.look(watched, self._collector, now_ms, problems)
        discovering.judge(declared, self._operator_inputs.sizes, self._metrics, self._roles.of, now_ms)

    def _with_measurements(self, inputs: PeriodInputs) -> PeriodInputs:
        """Adds the rest, which waits for a query that succeeded: each demand is returned once."""
        config, now_ms, problems = inputs.config, inputs.now_ms, self._resources.problems
        return inputs._replace(
            deferred=self._deferred(config),
            demands=self._demands.newest(config, self._collector, inputs.thresholds, now_ms, problems),
            unfit=self._unfit.look(self._silent(), inputs.targets, self._collector, now_ms, problems),
        )

    def _silent(self) -> set[PoolKey]:
        """Pools named in the file, whose newest answer is that there is no data. The name of a pool that was found, or
        that has evidence, is right: it is idle."""
        named = [pool.key for pool in self._declared.pools]
        last = {key: self._publisher.content(key) for key in named if self._learnt_until(key) < 0}
        return {key for key, content in last.items() if content is not None and content.state == State.NO_DATA.value}

    def _learnt_until(self, key: PoolKey) -> int:
        """Of the newest evidence, Unix ms; -1 without any."""
        state = self._states.get(key)
        return -1 if state is None else state.learnt.until_ms

    def _deferred(self, config: PoolsSection) -> frozenset[PoolKey]:
        """Pools left for a later period. Paused pools are never left."""
        stands = self._publisher.contents.keys() - self._operator_inputs.pauses.keys()
        return self._acquisition.left([pool.key for pool in config.pools], stands)

    def _answers_of(
        self, outcomes: Iterable[tuple[PoolStep, Publication | None]], states: dict[PoolKey, PoolState]
    ) -> Iterator[Publication]:
        """Answers of pools. Adds new states to `states`. No answer where the last one stays, with the rest of its
        lease."""
        problems = self._resources.problems
        for pool_step, answer in outcomes:
            key, activity = pool_step.key, f"decision of {pool_step.key}"
            if pool_step.state is not None:
                states[key] = pool_step.state
            if pool_step.failure is not None:
                problems.failed(activity, pool_step.failure.error())
            if answer is not None:
                problems.succeeded(activity)
                yield answer
            elif (last := self._publisher.content(key)) is None or last.codes == (AWAITED.code,):
                yield undecided(pool_step)

    def _path_sets(self, config: PoolsSection) -> list[set[PoolKey]]:
        if self._paths is None or self._paths[0] is not config:
            self._paths = config, paths((pool.key, config.slo_names(pool)) for pool in config.pools)
        return self._paths[1]
