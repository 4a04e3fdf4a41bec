"""Learns the windows from while no decider ran, one at a time, from the end of the oldest evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sluice.model.keys import PoolKey
from sluice.pools.period.agents import teach
from sluice.pools.period.data_sizes import DataSizes
from sluice.pools.period.decide import new_buckets
from sluice.pools.period.inputs import PeriodInputs
from sluice.pools.period.published_models import learns
from sluice.pools.period.resources import PoolResources
from sluice.pools.period.source import WindowSource
from sluice.pools.period.spread import Past, StepJob, Stepped
from sluice.pools.policy.state import PoolState
from sluice.pools.windows import Window

# Age of the oldest windows to read again.
CATCH_UP_MS = 600_000


def caught_up(
    inputs: PeriodInputs, collector: WindowSource, resources: PoolResources, data_sizes: DataSizes
) -> dict[PoolKey, PoolState]:
    """The states with the evidence of the past. The newest window is left to the next query. For a pool whose agent
    begins, all windows read are its first history."""
    config, now_ms, problems = inputs.config, inputs.now_ms, resources.problems
    states, width = dict(inputs.states), int(config.window)
    ends = [states[pool.key].learnt.until_ms for pool in config.pools if pool.key in states]
    ends += [0 for pool in config.pools if learns(pool, inputs.targets[pool.key]) and _untaught(inputs, pool.key)]
    oldest = max(min(ends, default=now_ms), now_ms - CATCH_UP_MS)
    for at_ms in range(oldest + width, now_ms, width):
        window = collector.collect(config, inputs.thresholds_ns, at_ms, live=False)
        past = inputs._replace(now_ms=at_ms, data_sizes=data_sizes.newest(config, collector, at_ms, problems))
        teach(past, window, resources, past=True)
        for job, outcome in resources.spread.run(_jobs(past, states, window, resources), len(config.pools)):
            resources.alive()
            if isinstance(outcome, Stepped):
                states[job.key] = outcome.state
            else:
                problems.failed(f"evidence of {job.key}", outcome.error())
    return states


def _untaught(inputs: PeriodInputs, key: PoolKey) -> bool:
    return inputs.state(key).facts.checkpoint is None


def _jobs(
    inputs: PeriodInputs, states: Mapping[PoolKey, PoolState], window: Window, resources: PoolResources
) -> Iterator[StepJob]:
    """Jobs that learn a past window, without a decision. states: with the evidence of earlier windows."""
    operator_inputs = inputs.operator_inputs
    for pool in inputs.config.pools:
        key, state = pool.key, states.get(pool.key, PoolState())
        try:
            buckets = new_buckets(key, state, window, operator_inputs)
            past = Past(buckets, operator_inputs.scalings.course(key).now.version)
        except Exception as cause:
            resources.problems.failed(f"evidence of {key}", cause)
            continue
        yield StepJob(key, state, past, inputs.now_ms)
