"""Decides each pool: window -> observation -> evidence -> outlook -> decision -> publication.

The query made the window. This module makes observations and publications; the steps between them are
`policy/step.py`, which `Spread` runs for all pools.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sluice.model.keys import PoolKey
from sluice.pools.estimate.attempt import Failed
from sluice.pools.guard.callees import callees
from sluice.pools.guard.turns import waiting
from sluice.pools.inputs.operator_inputs import OperatorInputs
from sluice.pools.learned.lesson import AgentEstimate
from sluice.pools.period.agents import agent_estimates
from sluice.pools.period.inputs import PeriodInputs
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
from sluice.pools.period.published_models import published_estimates
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.spread import Past, StepJob, Stepped
from sluice.pools.policy.observation import Buckets, Constraints
from sluice.pools.policy.state import PoolState
from sluice.pools.publication.publication import PoolContext, Publication, publication
from sluice.pools.windows import Window


class PoolOutcome(NamedTuple):
    """The result for one pool. state: None where unchanged. publication: None while the pool waits for current windows,
    or is deferred."""

    context: PoolContext
    state: PoolState | None
    publication: Publication | Failed | None


def decide(inputs: PeriodInputs, window: Window, resources: PoolResources) -> Iterator[PoolOutcome]:
    """One outcome for each pool, in any order. A failure of one pool does not affect others."""
    pools, sizes = inputs.config.pools, inputs.operator_inputs.sizes
    estimates = published_estimates(pools, window, inputs.targets, sizes, resources.workers, resources.problems)
    constraints_of = _constraints(inputs, window)
    agents = agent_estimates(inputs, window, constraints_of, resources)
    failed: list[PoolOutcome] = []
    deferred: list[PoolOutcome] = []

    def jobs() -> Iterator[StepJob]:
        for pool in pools:
            key, agent = pool.key, agents.get(pool.key)
            course = inputs.operator_inputs.scalings.course(key)
            estimate = agent.estimate if agent is not None else estimates.get(key)
            context = PoolContext(pool, inputs.thresholds[key], inputs.targets[key], course, None, estimate, agent)
            if key in inputs.deferred:
                deferred.append(PoolOutcome(context, None, None))
                continue
            try:
                job = _job(inputs, window, context, constraints_of[key])
            except Exception as cause:
                failed.append(PoolOutcome(context, None, Failed(type(cause).__name__, str(cause))))
                continue
            yield job

    for job, stepped in resources.spread.run(jobs(), len(pools)):
        resources.alive()
        yield _outcome(job.context, stepped, inputs.now_ms)
    yield from failed
    yield from deferred


def _job(inputs: PeriodInputs, window: Window, context: PoolContext, bound: Constraints) -> StepJob:
    """The pool's step: with an observation, or with past buckets while current windows have not arrived."""
    key, now_ms = context.pool.key, inputs.now_ms
    state = inputs.state(key)
    buckets = new_buckets(key, state, window, inputs.operator_inputs)
    context = context._replace(windows=windows_of(window, key, context.estimate))
    if inputs.freshness.waits(key, window.complete.get(key), now_ms):
        return StepJob(key, state, Past(buckets, context.course.now.version), now_ms, context)
    observed = observation(context, buckets, bound, inputs.demands.get(key), now_ms)
    return StepJob(key, state, observed, now_ms, context)


def new_buckets(key: PoolKey, state: PoolState, window: Window, operator_inputs: OperatorInputs) -> Buckets:
    """The buckets since the newest evidence."""
    complete, course, sizes = window.complete.get(key), operator_inputs.scalings.course(key), operator_inputs.sizes
    if complete is None:
        return NO_BUCKETS
    since_ms = state.learnt.until_ms
    new = complete.since(since_ms)
    size = sizes.limits(key, new.start_ms)
    if size is not None and np.isnan(size).any():
        names = sizes.instances(key)
        by_instance = (
            {name: buckets.since(since_ms) for name, buckets in window.by_instance(key, names).items()}
            if len(names) > 1
            else {}
        )
        size_of = {name: sizes.of_target(key, name, buckets.start_ms) for name, buckets in by_instance.items()}
        of_targets = by_target(key, by_instance, size_of, course)
        if len(of_targets):
            return of_targets
    return buckets_of(key, new, size, course)


def _outcome(context: PoolContext, stepped: Stepped | Failed, now_ms: int) -> PoolOutcome:
    if isinstance(stepped, Failed):
        return PoolOutcome(context, None, stepped)
    state = stepped.state
    if stepped.decision is None:
        return PoolOutcome(context, state, None)
    try:
        answer = publication(context, stepped.decision, state.learnt, stepped.cores, now_ms)
        if context.agent is not None:
            answer = answer.with_agent(context.agent)
            state = _with_checkpoint(state, context.agent)
    except Exception as cause:
        return PoolOutcome(context, None, Failed(type(cause).__name__, str(cause)))
    return PoolOutcome(context, state, answer)


def _with_checkpoint(state: PoolState, agent: AgentEstimate) -> PoolState:
    checkpoint = agent.learned.checkpoint if agent.learned is not None else None
    if checkpoint is None or checkpoint == state.facts.checkpoint:
        return state
    return replace(state, facts=replace(state.facts, checkpoint=checkpoint))


def _constraints(inputs: PeriodInputs, window: Window) -> dict[PoolKey, Constraints]:
    """The constraints of each pool, which depend on the states of all."""
    config, states, operator_inputs, now_ms = inputs.config, inputs.states, inputs.operator_inputs, inputs.now_ms
    instances = {
        pool.key: max(operator_inputs.scalings.replicas(pool.service) or 0, instances_of(window, pool.key))
        for pool in config.pools
        if config.backends
    }
    limits = ceilings_of(config, states, inputs.targets, instances)
    wait, blamed = waiting(states, inputs.paths, now_ms), callees(states, [pool.key for pool in config.pools])
    return {
        pool.key: constraints(
            pool,
            limits.get(pool.key),
            operator_inputs.pauses.get(pool.key),
            pool.key not in wait,
            now_ms,
            blamed.get(pool.key, ""),
        )
        for pool in config.pools
    }
