"""The sizes in force of pools: as actuators report them, else as metrics have them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.inputs.sizes import Sizes, TargetSize
from sluice.pools.metrics.metric_sizes import MetricSizes
from sluice.pools.metrics.use import waits_of

# A metric shows a size that an actuator has read for so long. Before, the two may be of different times.
SETTLED_MS = 5_000


def targets_of(key: PoolKey, actuators: Sizes, metrics: MetricSizes, now_ms: int) -> tuple[TargetSize, ...]:
    """The newest sizes that actuators reported, else those of metrics, else the bound of concurrency. A metric of
    before an actuator's newest report lags behind it, and does not count. Occupancy is of metrics where the actuator
    reports none."""
    sizes, targets = actuators, reported(key, actuators, metrics, now_ms)
    if not targets or by_metrics(targets):
        targets = targets or metrics.bounded(key, now_ms)
        sizes = metrics.sizes(key) or actuators
    if not metrics.uses(key):
        return targets
    return tuple(metrics.with_occupancy(key, target, sizes.since_ms(key, target.instance)) for target in targets)


def reported(key: PoolKey, actuators: Sizes, metrics: MetricSizes, now_ms: int) -> tuple[TargetSize, ...]:
    """As `targets_of`, without occupancy and without a size that only a bound of concurrency shows."""
    return actuators.targets(key, now_ms) or metrics.targets(key, now_ms, actuators.newest_ms(key))


def sizes_in_force(
    targets: Mapping[PoolKey, Sequence[TargetSize]], actuators: Sizes, metrics: MetricSizes, key: PoolKey
) -> Sizes:
    """The sizes in force of a pool: those of actuators, or of metrics where only they have its targets."""
    of_metrics = metrics.sizes(key) if by_metrics(targets[key]) else None
    return actuators if of_metrics is None else of_metrics


def by_metrics(targets: Iterable[TargetSize]) -> bool:
    """Whether the sizes are those of metrics."""
    return any(target.from_metrics for target in targets)


def notes_of(
    key: PoolKey, targets: Sequence[TargetSize], actuators: Sizes, metrics: MetricSizes, now_ms: int
) -> tuple[Reason, ...]:
    """What a pool's answer says of its metrics: that they are in doubt, where nobody reports a size; who waits; or that
    they differ from what actuators read."""
    if not targets:
        doubt = metrics.doubts.get(key)
        return () if doubt is None else (Reason("POOL_AMBIGUOUS", doubt),)
    waits = waits_of(key, metrics.uses(key).values(), now_ms)
    return waits if by_metrics(targets) else (*waits, *_differing(key, targets, actuators, metrics, now_ms))


def _differing(
    key: PoolKey, targets: Sequence[TargetSize], actuators: Sizes, metrics: MetricSizes, now_ms: int
) -> tuple[Reason, ...]:
    of_metrics = {target.instance: target for target in metrics.targets(key, now_ms)}
    differing = [
        f"{target.instance} {_text(metric.size)}, and the actuator read {_text(target.size)}"
        for target in targets
        if (metric := of_metrics.get(target.instance)) is not None
        and metric.size != target.size
        and actuators.since_ms(key, target.instance) <= metric.read_at_ms - SETTLED_MS
    ]
    if not differing:
        return ()
    return (Reason("METRICS_DIFFER", f"metrics have {'; '.join(differing)}; the actuator's size counts"),)


def _text(size: int | None) -> str:
    return "no limit" if size is None else str(size)
