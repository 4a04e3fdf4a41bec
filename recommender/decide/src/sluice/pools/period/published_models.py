"""Sizes by published models: for pools that configure one, and for pools without a known size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from sluice.model.keys import PoolKey
from sluice.model.problems import Problems
from sluice.model.reason import Reason
from sluice.model.states import State
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.attempt import EstimateJob, Failed
from sluice.pools.estimate.models import BELIEF, DEFAULT
from sluice.pools.inputs.sizes import Sizes, TargetSize
from sluice.pools.period.workers import Workers
from sluice.pools.section import Pool
from sluice.pools.windows import Window

Targets = Mapping[PoolKey, tuple[TargetSize, ...]]


def uses_published_model(pool: Pool, targets: tuple[TargetSize, ...]) -> bool:
    """Whether a published model decides the pool's size: as configured, or because no size in force is known.

    While targets differ, as during a rollout, the belief waits for them.
    """
    return pool.model != BELIEF or _unsized(targets)


def _unsized(targets: tuple[TargetSize, ...]) -> bool:
    """Whether no target has a size: none reports one, or none has a limit."""
    return {target.size for target in targets} <= {None}


def judged_pools(pools: Iterable[Pool], targets: Targets) -> list[PoolKey]:
    """The pools whose completions must be judged one by one, which the belief does not need."""
    return [pool.key for pool in pools if uses_published_model(pool, targets[pool.key])]


def published_estimates(
    pools: Iterable[Pool],
    window: Window,
    targets: Targets,
    sizes: Callable[[PoolKey], Sizes],
    workers: Workers,
    problems: Problems,
) -> dict[PoolKey, Estimate]:
    """The estimates of all pools at once: many go to worker processes. sizes: in force, of each pool."""
    modelled = [pool for pool in pools if uses_published_model(pool, targets[pool.key])]
    outcomes = workers.run([_job(pool, window, sizes, sized=not _unsized(targets[pool.key])) for pool in modelled])
    return {pool.key: _estimate(pool, outcome, problems) for pool, outcome in zip(modelled, outcomes, strict=True)}


def _job(pool: Pool, window: Window, sizes: Callable[[PoolKey], Sizes], sized: bool) -> EstimateJob:
    measured = window.pools[pool.key]
    model = DEFAULT if pool.model == BELIEF else pool.model
    if measured is None:
        return EstimateJob(model, None)
    limits = sizes(pool.key).limits(pool.key, measured.bucket_start_ms)
    samples = replace(measured.samples, start_ms=measured.bucket_start_ms)
    samples = samples if limits is None else replace(samples, limit=limits)
    return EstimateJob(model, samples, measured.bucket_ms, sized)


def _estimate(pool: Pool, outcome: Estimate | Failed, problems: Problems) -> Estimate:
    """The pool's estimate. A failure does not affect other pools."""
    activity = f"estimate of {pool.key}"
    if isinstance(outcome, Failed):
        text = f"{outcome.kind}: {outcome.text}"
        problems.failed(activity, RuntimeError(text))
        return Estimate(State.LEARNING, (Reason("ESTIMATE_FAILED", text),))
    problems.succeeded(activity)
    return outcome
