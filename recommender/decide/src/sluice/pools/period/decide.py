"""Decides each pool: window -> observation -> evidence -> outlook -> decision -> publication.

The query made the window. This module makes observations and publications; between them is `policy/step.py`, which
`Spread` runs for all pools.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sluice.model.keys import PoolKey
from sluice.pools.guard.callees import callees
from sluice.pools.guard.turns import waiting
from sluice.pools.inputs.sizes import TargetSize, one_size
from sluice.pools.metrics.in_force import by_metrics
from sluice.pools.period.inputs import PeriodInputs
from sluice.pools.period.observations import (
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
from sluice.pools.policy.observation import NO_BUCKETS, Buckets, Constraints
from sluice.pools.policy.scaled import scalable
from sluice.pools.pool_step import PoolStep
from sluice.pools.publication.publication import Publication, publication
from sluice.pools.windows import Window


def decide(
    inputs: PeriodInputs, window: Window, resources: PoolResources
) -> Iterator[tuple[PoolStep, Publication | None]]:
    """The step of each pool after its decision, in any order, with its publication. None: the step failed, waits for
    current windows, or is left for a later period. A failure of one pool does not affect others."""
    pools = inputs.config.pools
    estimates = published_estimates(pools, window, inputs.targets, inputs.sizes, resources.workers, resources.problems)
    constraints_of = _constraints(inputs, window)
    unrun: list[PoolStep] = []

    def pool_steps() -> Iterator[PoolStep]:
        for pool in pools:
            key = pool.key
            pool_step = inputs.pool_step(pool)
            if pool_step.sampling is None or not pool_step.sampling.refuses:
                pool_step = pool_step._replace(estimate=estimates.get(key))
            if key in inputs.deferred:
                unrun.append(pool_step._replace(state=None))
                continue
            try:
                pool_step = _observed(pool_step, inputs, window, constraints_of[key])
            except Exception as cause:
                unrun.append(pool_step.failed(cause))
                continue
            yield pool_step

    for pool_step in resources.spread.run(pool_steps(), len(pools)):
        resources.alive()
        yield _published(pool_step)
    for pool_step in unrun:
        yield pool_step, None


def _observed(pool_step: PoolStep, inputs: PeriodInputs, window: Window, bound: Constraints) -> PoolStep:
    """Adds the observation; while current windows have not arrived, past buckets."""
    key = pool_step.key
    buckets, sampled = new_buckets(key, inputs, window), sampled_buckets(key, inputs, window)
    pool_step = pool_step._replace(observation=buckets, windows=windows_of(window, key, pool_step.estimate))
    if inputs.freshness.waits(key, window.complete.get(key), inputs.now_ms):
        return pool_step
    of = observation(pool_step, buckets, bound, inputs.demands.get(key))
    return pool_step._replace(observation=of if sampled is None else replace(of, sampled=sampled))


def new_buckets(key: PoolKey, inputs: PeriodInputs, window: Window) -> Buckets:
    """The buckets since the newest evidence. Those of a sample have no size: they are read, and not learnt."""
    since_ms, sampling = inputs.state(key).learnt.until_ms, inputs.sampling(key.service)
    buckets = _all_new(key, inputs, window, since_ms)
    if sampling is None or not sampling.refuses:
        return buckets
    return replace(buckets, size=np.full(len(buckets), np.nan))


def sampled_buckets(key: PoolKey, inputs: PeriodInputs, window: Window) -> Buckets | None:
    """The buckets since the last stretch of a sample; None where the spans are all there, or cannot be scaled."""
    if not scalable(inputs.sampling(key.service)):
        return None
    last = inputs.state(key).scaled
    return _all_new(key, inputs, window, last.learnt.until_ms if last is not None else -1)


def _all_new(key: PoolKey, inputs: PeriodInputs, window: Window, since_ms: int) -> Buckets:
    complete, course, sizes = window.complete.get(key), inputs.operator_inputs.scalings.course(key), inputs.sizes(key)
    if complete is None:
        return NO_BUCKETS
    new = window.since(key, complete, since_ms)
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


def _published(pool_step: PoolStep) -> tuple[PoolStep, Publication | None]:
    if pool_step.decision is None:
        return pool_step, None
    try:
        answer = publication(pool_step, pool_step.decision)
    except Exception as cause:
        return pool_step.failed(cause), None
    return pool_step, answer


def _constraints(inputs: PeriodInputs, window: Window) -> dict[PoolKey, Constraints]:
    """The constraints of each pool, which depend on the states of all."""
    config, states, operator_inputs, now_ms = inputs.config, inputs.states, inputs.operator_inputs, inputs.now_ms
    instances = {
        pool.key: max(operator_inputs.scalings.replicas(pool.service) or 0, instances_of(window, pool.key))
        for pool in config.pools
        if config.backends
    }
    # A size that nobody can apply takes no part of a backend's capacity.
    applied: dict[PoolKey, tuple[TargetSize, ...]] = {
        key: () if by_metrics(targets) else targets for key, targets in inputs.targets.items()
    }
    limits = ceilings_of(config, states, applied, instances)
    wait, blamed = waiting(states, inputs.paths, now_ms), _blamed(inputs)
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


def _blamed(inputs: PeriodInputs) -> dict[PoolKey, str]:
    """The callee that each pool's requests wait for. A callee whose size only metrics have holds only pools of that
    kind."""
    keys = [pool.key for pool in inputs.config.pools]
    blamed = callees(inputs.states, keys)
    by_metric = {
        key: size
        for key, targets in inputs.targets.items()
        if by_metrics(targets) and (size := one_size(targets)) is not None
    }
    if not by_metric:
        return blamed
    more = callees(inputs.states, keys, by_metric)
    return blamed | {key: why for key, why in more.items() if key in by_metric}
