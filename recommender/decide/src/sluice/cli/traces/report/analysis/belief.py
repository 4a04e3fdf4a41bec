"""The decision of a pool whose size metrics have, by the decider's own functions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import NamedTuple

import numpy as np

from sluice.cli.traces.report.analysis.minutes import threshold_of
from sluice.cli.traces.report.analysis.pools import CandidatePool, PoolId
from sluice.cli.traces.report.analysis.windows import BUCKET_MS, Windows
from sluice.fast.changed import changed
from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.occupancy import occupancy
from sluice.pools.inputs.sizes import Sizes, TargetSize, one_size
from sluice.pools.metrics.in_force import notes_of, targets_of
from sluice.pools.metrics.matching import matches
from sluice.pools.metrics.metric_sizes import MetricSizes
from sluice.pools.metrics.pool_metric import MetricsReading
from sluice.pools.policy.decision import Decision
from sluice.pools.policy.observation import NO_BUCKETS, Buckets, Observation
from sluice.pools.policy.picture import Picture, draw
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from sluice.pools.section import Pool
from sluice.pools.windows.complete_buckets import whole

#: The newest windows are learnt, as many as a decider reads that begins.
LEARNT_MS = 600_000
#: A CPU limit that nobody reported.
CORES = 0.0


class PoolSizes(NamedTuple):
    """targets: sizes in force at the end of the recording; sizes: at any time. notes: what the metrics say else."""

    targets: tuple[TargetSize, ...]
    sizes: Sizes | None
    notes: tuple[Reason, ...]


class PoolBelief(NamedTuple):
    """current: the size in force, None where instances differ or have no limit. picture: None without evidence.
    threshold: derived where none is given."""

    current: int | None
    decision: Decision
    picture: Picture | None
    threshold: Threshold | None


def sizes_of(ids: Iterable[PoolId], metrics: MetricsReading, end_ms: int) -> Mapping[PoolId, PoolSizes]:
    """The sizes of pools in the metrics at `end_ms`, Unix time, for the pools whose service has metrics of its own."""
    keys = {of: PoolKey(of.service, of.side, of.peer) for of in ids}  # type: ignore[arg-type]
    pools = [
        Pool.model_construct(service=key.service, side=key.side, peer=key.peer, metrics="") for key in keys.values()
    ]
    kept, nobody = MetricSizes(), Sizes()
    kept.take(matches(pools, metrics), end_ms)
    found = {}
    for of, key in keys.items():
        targets = targets_of(key, nobody, kept, end_ms)
        notes = notes_of(key, targets, nobody, kept, end_ms)
        if targets or notes:
            found[of] = PoolSizes(targets, kept.sizes(key), notes)
    return found


def believed(pool: CandidatePool, of: PoolSizes, threshold_ms: float | None, end_ms: int) -> PoolBelief:
    """What the decider would say at `end_ms` after the newest windows. threshold_ms: None = derived from the minutes in
    which the pool was not full; without three of them no completion is late."""
    key = PoolKey(pool.id.service, pool.id.side, pool.id.peer)  # type: ignore[arg-type]
    buckets = complete_buckets(pool.windows, end_ms)
    size = of.sizes.limits(key, buckets.start_ms) if of.sizes is not None and len(buckets) else None
    derived = None if threshold_ms is not None or of.sizes is None else threshold_of(pool.minutes, of.sizes, key)
    if derived is not None:
        threshold_ms = derived.value_ms if derived.is_known else None
    observation = Observation(
        sizes={target.instance: target.size for target in of.targets},
        buckets=NO_BUCKETS if size is None else changed(buckets, size=size, instances=None),
        cores=CORES,
        slo_s=inf if threshold_ms is None else threshold_ms / 1_000,
        occupancy=occupancy((target.occupancy for target in of.targets), end_ms),
        from_metrics=True,
    )
    state, decision = step(PoolState(), observation, end_ms)
    current, learnt = one_size(of.targets), state.learnt
    return PoolBelief(current, decision, draw(learnt, current, CORES) if learnt.evidence.levels else None, derived)


def complete_buckets(windows: Windows, end_ms: int) -> Buckets:
    """The newest buckets of a pool without gaps, of one of its instances on the mean. windows: a series an instance."""
    last = end_ms // BUCKET_MS
    first = max(int(windows.bucket.min(initial=last)), last - LEARNT_MS // BUCKET_MS)
    rows = (windows.bucket >= first) & (windows.bucket < last)
    series, instance = np.unique(windows.series[rows], return_inverse=True)
    shape = (len(series), last - first)
    busy_ns, completions, errors = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    at = instance, windows.bucket[rows] - first
    busy_ns[at], completions[at], errors[at] = windows.busy_ns[rows], windows.completions[rows], windows.errors[rows]
    if not len(series):
        return NO_BUCKETS
    start_ms = np.arange(first, last, dtype=np.int64) * BUCKET_MS
    return whole(start_ms, busy_ns, completions, errors, last * BUCKET_MS, BUCKET_MS) or NO_BUCKETS
