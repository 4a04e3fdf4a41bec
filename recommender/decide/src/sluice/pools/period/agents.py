"""The agents of pools in a period: their proposals, and the windows that they learn from."""

from __future__ import annotations

from collections.abc import Mapping

from sluice.model.keys import PoolKey
from sluice.pools.inputs.sizes import one_size
from sluice.pools.learned.condition import NO_DATA_SIZE
from sluice.pools.learned.lesson import AgentEstimate, Learned, Lesson, agent_estimate, condition_of, new_windows
from sluice.pools.period.inputs import PeriodInputs
from sluice.pools.period.published_models import learns
from sluice.pools.period.resources import PoolResources
from sluice.pools.policy.observation import Constraints
from sluice.pools.section import Pool
from sluice.pools.windows import Window


def agent_estimates(
    inputs: PeriodInputs, window: Window, constraints: Mapping[PoolKey, Constraints], resources: PoolResources
) -> dict[PoolKey, AgentEstimate]:
    """Proposals of pools' agents. Also passes new windows to the agents, for the next period."""
    teach(inputs, window, resources)
    estimates = {}
    for pool in inputs.config.pools:
        targets = inputs.targets[pool.key]
        if not learns(pool, targets):
            continue
        facts = inputs.state(pool.key).facts
        learned, may_look = resources.learners.known.get(pool.key), constraints[pool.key].may_look
        try:
            estimates[pool.key] = agent_estimate(learned, facts, one_size(targets), may_look, inputs.now_ms)
        except Exception as cause:
            resources.problems.failed(f"proposal of {pool.key}", cause)
    return estimates


def teach(inputs: PeriodInputs, window: Window, resources: PoolResources, past: bool = False) -> None:
    """Passes windows to agents, except those still busy with the last ones. past: windows of recorded history."""
    config, learners = inputs.config, resources.learners
    if config.learning is None:
        return
    busy = set() if past else learners.under_way()
    lessons = []
    for pool in config.pools:
        if pool.key in busy or not learns(pool, inputs.targets[pool.key]):
            continue
        try:
            lessons.append(_lesson(inputs, window, pool, learners.known.get(pool.key), config.learning.directory))
        except Exception as cause:
            resources.problems.failed(f"lesson of {pool.key}", cause)
    learners.teach(lessons, past)


def _lesson(inputs: PeriodInputs, window: Window, pool: Pool, known: Learned | None, directory: str) -> Lesson:
    key, measured = pool.key, window.pools[pool.key]
    course = inputs.operator_inputs.scalings.course(key)
    windows = None
    if measured is not None:
        sizes = inputs.sizes(key).limits(key, measured.bucket_start_ms)
        windows = new_windows(measured, sizes, course, known)
    return Lesson(
        key=key,
        windows=windows,
        slo_s=inputs.thresholds[key].value_ms / 1e3,
        condition=condition_of(course, inputs.data_sizes.get(key, NO_DATA_SIZE)),
        bounds=(pool.bounds.min, pool.bounds.max),
        checkpoint=known.checkpoint if known is not None else inputs.state(key).facts.checkpoint,
        directory=directory,
        now_ms=inputs.now_ms,
    )
