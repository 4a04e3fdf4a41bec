"""Learns the windows from while no decider ran, one at a time, from the end of the oldest evidence."""

from __future__ import annotations

from collections.abc import Iterator

from sluice.model.keys import PoolKey
from sluice.pools.period.decide import new_buckets
from sluice.pools.period.inputs import PeriodInputs
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.source import WindowSource
from sluice.pools.policy.state import PoolState
from sluice.pools.pool_step import PoolStep
from sluice.pools.windows import Window

# Age of the oldest windows to read again.
CATCH_UP_MS = 600_000


def caught_up(inputs: PeriodInputs, collector: WindowSource, resources: PoolResources) -> dict[PoolKey, PoolState]:
    """The states with the evidence of the past. The newest window is left to the next query."""
    config, now_ms, problems = inputs.config, inputs.now_ms, resources.problems
    states, width = dict(inputs.states), int(config.window)
    ends = [states[pool.key].learnt.until_ms for pool in config.pools if pool.key in states]
    oldest = max(min(ends, default=now_ms), now_ms - CATCH_UP_MS)
    for at_ms in range(oldest + width, now_ms, width):
        window = collector.collect(config, inputs.thresholds_ns, at_ms, live=False)
        past = inputs._replace(now_ms=at_ms, states=states)
        for pool_step in resources.spread.run(_past_steps(past, window, resources), len(config.pools)):
            resources.alive()
            if pool_step.state is not None:
                states[pool_step.key] = pool_step.state
            if pool_step.failure is not None:
                problems.failed(f"evidence of {pool_step.key}", pool_step.failure.error())
    return states


def _past_steps(inputs: PeriodInputs, window: Window, resources: PoolResources) -> Iterator[PoolStep]:
    """Steps that learn a past window, without a decision."""
    for pool in inputs.config.pools:
        try:
            buckets = new_buckets(pool.key, inputs, window)
            pool_step = inputs.pool_step(pool)._replace(observation=buckets)
        except Exception as cause:
            resources.problems.failed(f"evidence of {pool.key}", cause)
            continue
        yield pool_step
