"""Decides each pool, from a period's readings and the states of all pools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from sluice.model.demand import Demand
from sluice.model.keys import PoolKey
from sluice.model.problems import Problems
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.attempt import Failed
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.guard.callees import callees
from sluice.pools.guard.turns import waiting
from sluice.pools.inputs.occupancy import occupancy
from sluice.pools.inputs.operator_inputs import OperatorInputs
from sluice.pools.inputs.scalings import Course
from sluice.pools.inputs.sizes import TargetSize, one_size
from sluice.pools.learned.condition import NOTHING_SAID, DataSize
from sluice.pools.learned.learners import Learners
from sluice.pools.learned.lesson import AgentEstimate, lesson
from sluice.pools.learned.lesson import agent_estimate as named_by_agent
from sluice.pools.period.freshness import Freshness
from sluice.pools.period.observations import (
    NO_BUCKETS,
    buckets_of,
    by_target,
    ceilings_of,
    constraints,
    instances_of,
    observation,
    windows_of,
)
from sluice.pools.period.published_models import Targets, learns, published_estimates
from sluice.pools.period.spread import Past, Spread, StepJob, Stepped
from sluice.pools.period.workers import Workers
from sluice.pools.policy.observation import Buckets, Constraints
from sluice.pools.policy.state import PoolState
from sluice.pools.publication.publication import Publication, WindowSummary, publication
from sluice.pools.section import Pool, PoolsSection
from sluice.pools.windows import Window


@dataclass
class PoolResources:
    """The resources of a decider for the pools of all of its shards. alive: called during a period to report
    progress."""

    workers: Workers = field(default_factory=Workers)
    spread: Spread = field(default_factory=Spread)
    problems: Problems = field(default_factory=Problems)
    alive: Callable[[], None] = lambda: None
    learners: Learners = field(default_factory=Learners)

    def close(self) -> None:
        self.workers.close()
        self.spread.close()
        self.learners.close()


class PeriodInputs(NamedTuple):
    """The pools of one shard at the start of a period. paths: sets of pools of which one may look at a time. targets:
    of each pool, as last read. later: pools left for a later period. demands: new ones. data: where spans have it."""

    config: PoolsSection
    paths: list[set[PoolKey]]
    states: Mapping[PoolKey, PoolState]
    heard: OperatorInputs
    awaited: Freshness
    targets: Targets
    later: frozenset[PoolKey] = frozenset()
    demands: Mapping[PoolKey, Demand] = MappingProxyType({})
    data: Mapping[PoolKey, DataSize] = MappingProxyType({})


class PoolContext(NamedTuple):
    """Fields of a pool's answer besides its decision."""

    pool: Pool
    threshold: Threshold
    targets: tuple[TargetSize, ...]
    course: Course
    windows: WindowSummary | None
    estimate: Estimate | None
    agent: AgentEstimate | None = None


class PoolOutcome(NamedTuple):
    """The result for one pool. state: None where unchanged. made: None while the pool waits, or is left for later."""

    about: PoolContext
    state: PoolState | None
    made: Publication | Failed | None


def decide(
    known: PeriodInputs, means: PoolResources, thresholds: Mapping[PoolKey, Threshold], window: Window, now_ms: int
) -> Iterator[PoolOutcome]:
    """One outcome for each pool, in any order. A failure of one pool does not affect others."""
    config, _, states, heard, awaited, targets, later, demands, _ = known
    estimates = published_estimates(config.pools, window, targets, heard.sizes, means.workers, means.problems)
    bound = _constraints(known, window, now_ms)
    agents = _agents(known, means, thresholds, bound, window, now_ms)
    failed: list[PoolOutcome] = []
    left: list[PoolOutcome] = []

    def seen() -> Iterator[StepJob]:
        for pool in config.pools:
            key, course = pool.key, heard.scalings.course(pool.key)
            state, threshold, estimate = states.get(key, PoolState()), thresholds[key], estimates.get(key)
            agent = agents.get(key)
            estimate = agent.estimate if agent is not None else estimate
            about = PoolContext(pool, threshold, targets[key], course, None, estimate, agent)
            if key in later:
                left.append(PoolOutcome(about, None, None))
                continue
            try:
                buckets = new_buckets(pool.key, state, window, heard)
                about = about._replace(windows=windows_of(window, key, estimate))
                if awaited.waits(key, window.whole.get(key), now_ms):
                    yield StepJob(key, state, Past(buckets, course.now.version), now_ms, about)
                    continue
                of = observation(
                    pool,
                    targets[key],
                    buckets,
                    course,
                    threshold,
                    bound[key],
                    estimate,
                    demands.get(key),
                    occupancy((target.told for target in targets[key]), now_ms),
                )
            except Exception as cause:
                failed.append(PoolOutcome(about, None, Failed(type(cause).__name__, str(cause))))
                continue
            yield StepJob(key, state, of, now_ms, about)

    for job, stepped in means.spread.run(seen(), len(config.pools)):
        means.alive()
        yield _outcome(job.about, stepped, now_ms)
    yield from failed
    yield from left


def new_buckets(key: PoolKey, state: PoolState, window: Window, heard: OperatorInputs) -> Buckets:
    """The buckets since the newest evidence."""
    whole, course, sizes = window.whole.get(key), heard.scalings.course(key), heard.sizes
    if whole is None:
        return NO_BUCKETS
    since_ms = state.learnt.until_ms
    new = whole.since(since_ms)
    size = sizes.limits(key, new.start_ms)
    if size is not None and np.isnan(size).any():
        names = sizes.instances(key)
        each = {name: of.since(since_ms) for name, of in window.each(key, names).items()} if len(names) > 1 else {}
        found = by_target(
            key, each, {name: sizes.of_target(key, name, of.start_ms) for name, of in each.items()}, course
        )
        if len(found):
            return found
    return buckets_of(key, new, size, course)


def _outcome(about: PoolContext, stepped: Stepped | Failed, now_ms: int) -> PoolOutcome:
    if isinstance(stepped, Failed):
        return PoolOutcome(about, None, stepped)
    if stepped.decision is None:
        return PoolOutcome(about, stepped.state, None)
    pool, threshold, targets, course, windows, estimate, agent = about
    state = stepped.state
    try:
        made = publication(
            pool, stepped.decision, state.learnt, stepped.cores, course, threshold, targets, windows, estimate, now_ms
        )
        if agent is not None:
            made = made.with_agent(agent)
            state = _with_checkpoint(state, agent)
    except Exception as cause:
        return PoolOutcome(about, None, Failed(type(cause).__name__, str(cause)))
    return PoolOutcome(about, state, made)


def _agents(
    known: PeriodInputs,
    means: PoolResources,
    thresholds: Mapping[PoolKey, Threshold],
    bound: Mapping[PoolKey, Constraints],
    window: Window,
    now_ms: int,
) -> dict[PoolKey, AgentEstimate]:
    """Proposals of pools' agents. Also passes new windows to the agents, for the next period."""
    teach(known, means, thresholds, window, now_ms)
    found = {}
    for pool in known.config.pools:
        targets = known.targets[pool.key]
        if not learns(pool, targets):
            continue
        facts = known.states.get(pool.key, PoolState()).facts
        learned, may_look = means.learners.known.get(pool.key), bound[pool.key].may_look
        try:
            found[pool.key] = named_by_agent(learned, facts, one_size(targets), may_look, now_ms)
        except Exception as cause:
            means.problems.failed(f"proposal of {pool.key}", cause)
    return found


def teach(
    known: PeriodInputs,
    means: PoolResources,
    thresholds: Mapping[PoolKey, Threshold],
    window: Window,
    now_ms: int,
    past: bool = False,
) -> None:
    """Passes windows to agents, except those still busy with the last ones. past: windows of recorded history."""
    config, learners = known.config, means.learners
    if config.learning is None:
        return
    waiting = set() if past else learners.under_way()
    lessons = []
    for pool in config.pools:
        if pool.key in waiting or not learns(pool, known.targets[pool.key]):
            continue
        try:
            lessons.append(
                lesson(
                    pool,
                    window.pools[pool.key],
                    known.heard.sizes,
                    known.heard.scalings.course(pool.key),
                    known.data.get(pool.key, NOTHING_SAID),
                    thresholds[pool.key].value_ms / 1e3,
                    learners.known.get(pool.key),
                    known.states.get(pool.key, PoolState()).facts,
                    config.learning.directory,
                    now_ms,
                )
            )
        except Exception as cause:
            means.problems.failed(f"lesson of {pool.key}", cause)
    learners.teach(lessons, past)


def _with_checkpoint(state: PoolState, agent: AgentEstimate) -> PoolState:
    checkpoint = agent.learned.checkpoint if agent.learned is not None else None
    if checkpoint is None or checkpoint == state.facts.checkpoint:
        return state
    return replace(state, facts=replace(state.facts, checkpoint=checkpoint))


def _constraints(known: PeriodInputs, window: Window, now_ms: int) -> dict[PoolKey, Constraints]:
    """The constraints of each pool, which depend on the states of all."""
    config, paths, states, heard, _, targets, *_ = known
    instances = {
        pool.key: max(heard.scalings.replicas(pool.service) or 0, instances_of(window, pool.key))
        for pool in config.pools
        if config.backends
    }
    limits = ceilings_of(config, states, targets, instances)
    wait, blamed = waiting(states, paths, now_ms), callees(states, [pool.key for pool in config.pools])
    return {
        pool.key: constraints(
            pool,
            limits.get(pool.key),
            heard.pauses.get(pool.key),
            pool.key not in wait,
            now_ms,
            blamed.get(pool.key, ""),
        )
        for pool in config.pools
    }
