"""The state of the pools of one shard, and its control periods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.commit import Commit, Found, Heartbeat, Received
from sluice.pools.estimate.threshold import Asked, UpstreamTime
from sluice.pools.guard.turns import paths
from sluice.pools.inputs.operator_inputs import Changes, Heard
from sluice.pools.period.acquisition import TakingOver
from sluice.pools.period.catching_up import caught_up
from sluice.pools.period.clock_offsets import ShardClocks
from sluice.pools.period.data_sizes import DataSizes
from sluice.pools.period.deciding import Known, Means, Outcome, decide
from sluice.pools.period.demands import Demands
from sluice.pools.period.freshness import Awaited
from sluice.pools.period.history import Before
from sluice.pools.period.published_models import judged
from sluice.pools.period.source import Collects
from sluice.pools.period.thresholds import Thresholds
from sluice.pools.policy.state import PoolState
from sluice.pools.publication.alarms import Alarms, Entered
from sluice.pools.publication.answer import AWAITED, Answer, unsaid
from sluice.pools.publication.leases import Leases
from sluice.pools.publication.publication import Said, Words, restored, words
from sluice.pools.publication.schedule import Due
from sluice.subsets.product import ShardSubsets
from sluice.tuning.product import ShardTuning

Clock = Callable[[], int]
"""Unix time in milliseconds."""


class Period(NamedTuple):
    """The result of a period. It holds only once it is committed."""

    commit: Commit
    words: Words
    states: Mapping[PoolKey, PoolState]
    not_renewed: frozenset[PoolKey]


class ShardDecider:
    """Call `period`, then commit, then `keep` or `drop`. Operators' inputs hold whatever the outcome of a commit."""

    def __init__(
        self,
        config: Config,
        found: Found,
        collector: Collects,
        clock: Clock,
        means: Means,
        history: Callable[[], Before] | None = None,
    ) -> None:
        """history: called for a shard without any decision."""
        now_ms = clock()
        self.config = config
        self._collector, self._clock, self._means = collector, clock, means
        self._heard, self._heard_to = Heard(found, now_ms), 0
        self._states = found.states.states()
        self._said = restored(found.decisions)
        self._alarms = Alarms({key: each.content.codes for key, each in self._said.items() if each.content})
        self._answers: dict[PoolKey, Answer] = {}
        self._due = Due()
        self._due.restored(found.states)
        self._leases = Leases(found.heartbeat)
        self._awaited = Awaited(found.states.evidence, now_ms)
        self._history = history if found.heartbeat is None else None
        self._thresholds, self._demands, self._data = Thresholds(), Demands(), DataSizes()
        self.clocks = ShardClocks()
        self._paths: tuple[Config, list[set[PoolKey]]] | None = None
        self._taking_over = TakingOver()
        self._caught_up = False
        self._subsets = ShardSubsets(found.subsets, means.subsets, means.problems)
        self._tuning = ShardTuning(found.tuning, means.tuning, means.problems)

    @property
    def states(self) -> Mapping[PoolKey, PoolState]:
        """The state of each pool."""
        return self._states

    @property
    def answers(self) -> Mapping[PoolKey, Answer]:
        """The newest answer of each pool."""
        return self._answers

    @property
    def alarms(self) -> Mapping[PoolKey, str]:
        """Pools in an alarm, with the name of the case."""
        return self._alarms.of

    def hear(self, received: Received) -> bool:
        """Takes inputs between two periods: only a target's newest size waits. True: a period should run now."""
        before, self._heard_to = self._heard_to, received.offset
        changes = self._heard.take(received)
        tuned = self._tuning.hear(received.commands)
        return tuned or (received.offset > before and bool(changes.pauses or changes.scalings))

    def period(self, received: Received, lease_ms: int) -> Period:
        """Runs a period. Raises the collector's errors: then no lease is renewed, and leases end."""
        config, now_ms, self._heard_to = self.config, self._clock(), received.offset
        changes = self._heard.take(received)
        if self._history is not None:
            changes = self._take_up(self._history())
        thresholds = self._thresholds.of(config, self._upstream(config, now_ms), now_ms)
        targets = {pool.key: self._heard.sizes.targets(pool.key, now_ms) for pool in config.pools}
        thresholds_ns = {key: thresholds[key].value_ns for key in judged(config.pools, targets)}
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
        known = Known(
            config, self._path_sets(config), self._states, self._heard, self._awaited, targets, later, demands, data
        )
        states: dict[PoolKey, PoolState] = {}
        # Publications of decided pools are made while others are still being decided.
        answers = self._answers_of(decide(known, self._means, thresholds, window, now_ms), states, now_ms)
        keys = [pool.key for pool in config.pools]
        said = words(self._said, answers, keys, now_ms)
        not_renewed = frozenset(keys) - said.answers.keys()
        told = self._heard.scalings.told()
        subsets = self._subsets.period(config.subsets, told, now_ms, urgent=bool(changes.scalings))
        commit = Commit(
            received,
            Heartbeat(now_ms, lease_ms, self._leases.of(not_renewed)),
            said.decisions,
            said.explanations,
            dict(self._due.of({**self._states, **states})),
            changes.pauses,
            changes.scalings,
            subsets=subsets,
            tuning=self._tuning.period(received.commands, now_ms),
        )
        return Period(commit, said, states, not_renewed)

    def keep(self, period: Period, written: bool) -> tuple[Entered, ...]:
        """Keeps a committed period, or one with nothing to write. Returns the pools that entered an alarm."""
        self._subsets.keep()
        self._tuning.keep()
        self._states |= period.states
        self._said |= period.words.said
        pools = {pool.key for pool in self.config.pools}
        gone = self._answers.keys() - pools
        self._answers = {key: each for key, each in self._answers.items() if key not in gone} | period.words.answers
        if written:
            self._history = None
            self._leases.renewed(period.commit.heartbeat, period.not_renewed)
        return self._alarms.look(period.words.answers.values(), pools)

    def drop(self, period: Period) -> None:
        """Drops an aborted period."""
        self._subsets.drop()
        self._tuning.drop()
        self._due.again(period.commit.states)

    def _later(self, config: Config) -> frozenset[PoolKey]:
        """Pools left for a later period. Paused pools are never left."""
        stands = {key for key, each in self._said.items() if each.content is not None} - self._heard.pauses.keys()
        return self._taking_over.left([pool.key for pool in config.pools], stands)

    def _take_up(self, known: Before) -> Changes:
        keys = {pool.key for pool in self.config.pools}
        self._said = {key: Said(revision) for key, revision in known.revisions.items() if key in keys}
        return self._heard.take_up({key: each for key, each in known.pauses.items() if key in keys}, known.scalings)

    def _answers_of(
        self, outcomes: Iterable[Outcome], states: dict[PoolKey, PoolState], now_ms: int
    ) -> Iterator[Answer]:
        """Answers of outcomes. Adds new states to `states`."""
        for each in outcomes:
            if each.state is not None:
                states[each.about.pool.key] = each.state
            answer = self._answer(each, now_ms)
            if answer is not None:
                yield answer

    def _answer(self, outcome: Outcome, now_ms: int) -> Answer | None:
        """The answer; None where the last one stays, with the rest of its lease."""
        (about, _, made), problems = outcome, self._means.problems
        key = about.pool.key
        if isinstance(made, Answer):
            problems.succeeded(f"decision of {key}")
            return made
        if made is not None:
            problems.failed(f"decision of {key}", made.error())
        last = self._said.get(key)
        if last is not None and last.content is not None and last.content.codes != (AWAITED.code,):
            return None
        return unsaid(about.pool, about.threshold, about.targets, made, now_ms)

    def _path_sets(self, config: Config) -> list[set[PoolKey]]:
        if self._paths is None or self._paths[0] is not config:
            self._paths = config, paths((pool.key, pool.slo) for pool in config.pools)
        return self._paths[1]

    def _upstream(self, config: Config, now_ms: int) -> dict[Asked, UpstreamTime]:
        """Upstream times. After a failed reading, the last known ones stay."""
        problems = self._means.problems
        try:
            seen = self._collector.upstream(config, now_ms)
        except Exception as cause:
            problems.failed("upstream times", cause)
            return {}
        problems.succeeded("upstream times")
        return seen
