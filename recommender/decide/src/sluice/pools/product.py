"""Pools as a product of the engine: the state of the pools of one shard, and their part of a control period."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from sluice.engine.product import ProductShard, Proposal, Takeover
from sluice.engine.records import Heartbeat, Received
from sluice.model.keys import PoolKey
from sluice.pools.codec import PoolsCodec
from sluice.pools.commit import PoolRecords, PoolsCommit
from sluice.pools.counts import PoolMetrics
from sluice.pools.estimate import libraries
from sluice.pools.estimate.threshold import Asked, UpstreamTime
from sluice.pools.guard.turns import paths
from sluice.pools.inputs.operator_inputs import DurableInputs, OperatorInputs
from sluice.pools.inputs.scalings import Scalings
from sluice.pools.period.acquisition import Acquisition
from sluice.pools.period.catching_up import caught_up
from sluice.pools.period.clock_offsets import ShardClocks
from sluice.pools.period.data_sizes import DataSizes
from sluice.pools.period.decide import PeriodInputs, PoolOutcome, PoolResources, decide
from sluice.pools.period.demands import Demands
from sluice.pools.period.freshness import Freshness
from sluice.pools.period.history import History
from sluice.pools.period.published_models import judged_pools
from sluice.pools.period.source import WindowSource
from sluice.pools.period.thresholds import Thresholds
from sluice.pools.policy.prepare import prepare
from sluice.pools.policy.state import PoolState
from sluice.pools.publication.alarms import Alarms
from sluice.pools.publication.leases import Leases
from sluice.pools.publication.publication import AWAITED, Publication, undecided
from sluice.pools.publication.publisher import Publications, Published, publications, restored
from sluice.pools.publication.schedule import WriteSchedule
from sluice.pools.section import PoolsSection

log = logging.getLogger(__name__)


class PoolsProduct:
    """collector: makes the reader of windows of one shard. history: called for a shard without any heartbeat."""

    name, codec = "pools", PoolsCodec()

    def __init__(
        self,
        collector: Callable[[], WindowSource],
        resources: PoolResources,
        history: Callable[[], History] | None = None,
        counts: PoolMetrics | None = None,
    ) -> None:
        self._collector, self._resources, self._history, self._counts = collector, resources, history, counts

    def start(self, config: PoolsSection) -> None:
        libraries.load()
        prepare()
        self._resources.spread.start(len(config.pools))

    def restore(self, takeover: Takeover) -> PoolsShard:
        history = self._history if takeover.heartbeat is None else None
        return PoolsShard(takeover, self._collector(), self._resources, history, self._counts)

    def measure(self, shards: Iterable[ProductShard]) -> None:
        if self._counts is None:
            return
        own = [shard for shard in shards if isinstance(shard, PoolsShard)]
        cases = [case for shard in own for case in shard.alarms.values()]
        self._counts.pools(sum(len(shard.config.pools) for shard in own), cases)
        # Each shard reads the offsets of all instances.
        off = max((len(shard.clocks.known_ms) for shard in own), default=0)
        self._counts.clocks(off, max((shard.clocks.farthest_ms for shard in own), default=0))

    def close(self) -> None:
        self._resources.close()


class Period(NamedTuple):
    """The result of a period. It holds only once it is committed."""

    commit: PoolsCommit
    publications: Publications
    states: Mapping[PoolKey, PoolState]
    not_renewed: frozenset[PoolKey]


class PoolsShard:
    def __init__(
        self,
        takeover: Takeover,
        collector: WindowSource,
        resources: PoolResources,
        history: Callable[[], History] | None,
        counts: PoolMetrics | None,
    ) -> None:
        """takeover: `part` has `PoolRecords`."""
        found: PoolRecords = takeover.part
        now_ms = takeover.now_ms
        self.config: PoolsSection = takeover.config
        self._collector, self._means, self._history, self._counts = collector, resources, history, counts
        self._heard, self._heard_to = OperatorInputs(found, now_ms), 0
        self._states = found.states.states()
        self._said = restored(found.decisions)
        self._alarms = Alarms({key: each.content.codes for key, each in self._said.items() if each.content})
        self._answers: dict[PoolKey, Publication] = {}
        self._due = WriteSchedule()
        self._due.restored(found.states)
        self._leases = Leases(takeover.heartbeat)
        self._awaited = Freshness(found.states.evidence, now_ms)
        self._thresholds, self._demands, self._data = Thresholds(), Demands(), DataSizes()
        self.clocks = ShardClocks()
        self._paths: tuple[PoolsSection, list[set[PoolKey]]] | None = None
        self._taking_over = Acquisition()
        self._caught_up = False
        self._period: Period | None = None

    @property
    def states(self) -> Mapping[PoolKey, PoolState]:
        """The state of each pool."""
        return self._states

    @property
    def answers(self) -> Mapping[PoolKey, Publication]:
        """The newest answer of each pool."""
        return self._answers

    @property
    def alarms(self) -> Mapping[PoolKey, str]:
        """Pools in an alarm, with the name of the case."""
        return self._alarms.of

    @property
    def scalings(self) -> Scalings:
        """The notifications of hardware autoscalers."""
        return self._heard.scalings

    def configure(self, config: PoolsSection) -> None:
        self.config = config

    def hear(self, received: Received) -> bool:
        """Takes inputs between two periods: only a target's newest size waits. True: a pause, a resume or a scaling."""
        before, self._heard_to = self._heard_to, received.offset
        changes = self._heard.take(received)
        return received.offset > before and bool(changes.pauses or changes.scalings)

    def propose(self, received: Received, now_ms: int) -> Proposal:
        """Runs a period. Raises the collector's errors: then no lease is renewed, and leases end."""
        config, self._heard_to = self.config, received.offset
        changes = self._heard.take(received)
        if self._history is not None:
            changes = self._take_up(self._history())
        thresholds = self._thresholds.of(config, self._upstream(config, now_ms), now_ms)
        targets = {pool.key: self._heard.sizes.targets(pool.key, now_ms) for pool in config.pools}
        thresholds_ns = {key: thresholds[key].value_ns for key in judged_pools(config.pools, targets)}
        self.clocks.look(config, self._collector, now_ms, self._means.problems)
        if not self._caught_up:
            self._states = caught_up(
                config,
                self._states,
                self._heard,
                self._collector,
                self._means,
                thresholds,
                thresholds_ns,
                self._data,
                now_ms,
            )
            self._caught_up = True
        window = self._collector.collect(config, thresholds_ns, now_ms)
        later = self._later(config)
        demands = self._demands.newest(config, self._collector, thresholds, now_ms, self._means.problems)
        data = self._data.newest(config, self._collector, now_ms, self._means.problems)
        known = PeriodInputs(
            config, self._path_sets(config), self._states, self._heard, self._awaited, targets, later, demands, data
        )
        states: dict[PoolKey, PoolState] = {}
        # Publications of decided pools are made while others are still being decided.
        answers = self._answers_of(decide(known, self._means, thresholds, window, now_ms), states, now_ms)
        keys = [pool.key for pool in config.pools]
        said = publications(self._said, answers, keys, now_ms)
        not_renewed = frozenset(keys) - said.answers.keys()
        due = dict(self._due.of({**self._states, **states}))
        commit = PoolsCommit(said.decisions, said.explanations, due, changes.pauses, changes.scalings)
        self._period = Period(commit, said, states, not_renewed)
        return Proposal(commit, self._leases.of(not_renewed))

    def committed(self, heartbeat: Heartbeat, written: bool) -> None:
        """Keeps the period. Logs the pools that entered an alarm."""
        period, self._period = self._period, None
        if period is None:
            return
        self._states |= period.states
        self._said |= period.publications.said
        pools = {pool.key for pool in self.config.pools}
        gone = self._answers.keys() - pools
        kept = {key: answer for key, answer in self._answers.items() if key not in gone}
        self._answers = kept | period.publications.answers
        if written:
            self._history = None
            self._leases.renewed(heartbeat, period.not_renewed)
        entered = self._alarms.look(period.publications.answers.values(), pools)
        for each in entered:
            log.warning("%s: %s: %s", each.key, each.case, each.text)
        if self._counts is not None:
            self._counts.decided(len(period.publications.answers), len(period.not_renewed))
            self._counts.entered(entered)
            if written:
                self._counts.written(period.commit)

    def aborted(self) -> None:
        if self._period is not None:
            self._due.again(self._period.commit.states)
            self._period = None

    def _later(self, config: PoolsSection) -> frozenset[PoolKey]:
        """Pools left for a later period. Paused pools are never left."""
        stands = {key for key, each in self._said.items() if each.content is not None} - self._heard.pauses.keys()
        return self._taking_over.left([pool.key for pool in config.pools], stands)

    def _take_up(self, known: History) -> DurableInputs:
        keys = {pool.key for pool in self.config.pools}
        self._said = {key: Published(revision) for key, revision in known.revisions.items() if key in keys}
        return self._heard.take_up({key: each for key, each in known.pauses.items() if key in keys}, known.scalings)

    def _answers_of(
        self, outcomes: Iterable[PoolOutcome], states: dict[PoolKey, PoolState], now_ms: int
    ) -> Iterator[Publication]:
        """Answers of outcomes. Adds new states to `states`."""
        for each in outcomes:
            if each.state is not None:
                states[each.about.pool.key] = each.state
            answer = self._answer(each, now_ms)
            if answer is not None:
                yield answer

    def _answer(self, outcome: PoolOutcome, now_ms: int) -> Publication | None:
        """The answer; None where the last one stays, with the rest of its lease."""
        (about, _, made), problems = outcome, self._means.problems
        key = about.pool.key
        if isinstance(made, Publication):
            problems.succeeded(f"decision of {key}")
            return made
        if made is not None:
            problems.failed(f"decision of {key}", made.error())
        last = self._said.get(key)
        if last is not None and last.content is not None and last.content.codes != (AWAITED.code,):
            return None
        return undecided(about.pool, about.threshold, about.targets, made, now_ms)

    def _path_sets(self, config: PoolsSection) -> list[set[PoolKey]]:
        if self._paths is None or self._paths[0] is not config:
            self._paths = config, paths((pool.key, pool.slo) for pool in config.pools)
        return self._paths[1]

    def _upstream(self, config: PoolsSection, now_ms: int) -> dict[Asked, UpstreamTime]:
        """Upstream times. After a failed reading, the last known ones stay."""
        problems = self._means.problems
        try:
            seen = self._collector.upstream(config, now_ms)
        except Exception as cause:
            problems.failed("upstream times", cause)
            return {}
        problems.succeeded("upstream times")
        return seen
