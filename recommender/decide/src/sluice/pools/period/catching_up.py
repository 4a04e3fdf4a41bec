"""Learns the windows from while no decider ran, one at a time, from the end of the oldest evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sluice.model.keys import PoolKey
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.operator_inputs import OperatorInputs
from sluice.pools.period.data_sizes import DataSizes
from sluice.pools.period.decide import PeriodInputs, PoolResources, new_buckets, teach
from sluice.pools.period.freshness import Freshness
from sluice.pools.period.published_models import learns
from sluice.pools.period.source import WindowSource
from sluice.pools.period.spread import Past, StepJob, Stepped
from sluice.pools.policy.state import PoolState
from sluice.pools.section import PoolsSection
from sluice.pools.windows import Window

# Age of the oldest windows to read again.
CATCH_UP_MS = 600_000


def caught_up(
    config: PoolsSection,
    states: Mapping[PoolKey, PoolState],
    heard: OperatorInputs,
    collector: WindowSource,
    means: PoolResources,
    thresholds: Mapping[PoolKey, Threshold],
    thresholds_ns: dict[PoolKey, int],
    data: DataSizes,
    now_ms: int,
) -> dict[PoolKey, PoolState]:
    """The states with the evidence of the past. The newest window is left to the next reading. For a pool whose agent
    begins, all windows read are its first history."""
    found, width = dict(states), int(config.window)
    ends = [states[pool.key].learnt.until_ms for pool in config.pools if pool.key in states]
    targets = {pool.key: heard.sizes.targets(pool.key, now_ms) for pool in config.pools}
    known = PeriodInputs(config, [], states, heard, Freshness({}, now_ms), targets)
    ends += [0 for pool in config.pools if learns(pool, targets[pool.key]) and _untaught(states, pool.key)]
    oldest = max(min(ends, default=now_ms), now_ms - CATCH_UP_MS)
    for at_ms in range(oldest + width, now_ms, width):
        window = collector.collect(config, thresholds_ns, at_ms, live=False)
        of_then = data.newest(config, collector, at_ms, means.problems)
        teach(known._replace(data=of_then), means, thresholds, window, at_ms, past=True)
        for job, outcome in means.spread.run(_past(config, found, heard, means, window, at_ms), len(config.pools)):
            means.alive()
            if isinstance(outcome, Stepped):
                found[job.key] = outcome.state
            else:
                means.problems.failed(f"evidence of {job.key}", outcome.error())
    return found


def _untaught(states: Mapping[PoolKey, PoolState], key: PoolKey) -> bool:
    return states.get(key, PoolState()).facts.checkpoint is None


def _past(
    config: PoolsSection,
    states: Mapping[PoolKey, PoolState],
    heard: OperatorInputs,
    means: PoolResources,
    window: Window,
    at_ms: int,
) -> Iterator[StepJob]:
    """Jobs that learn a past window, without a decision."""
    for pool in config.pools:
        key, state = pool.key, states.get(pool.key, PoolState())
        try:
            past = Past(new_buckets(key, state, window, heard), heard.scalings.course(key).now.version)
        except Exception as cause:
            means.problems.failed(f"evidence of {key}", cause)
            continue
        yield StepJob(key, state, past, at_ms)
