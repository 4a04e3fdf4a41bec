"""The size that the belief calls best by one window alone, beside what an estimator names by it."""

from __future__ import annotations

import numpy as np

from sluice.pools.policy.observation import Buckets, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from testbed.fine import PoolWindows


def best_size(seen: PoolWindows) -> tuple[str, int | None]:
    """The state of a pool of which nothing was known before, and the best size, reachable or not: None while nothing
    is believed."""
    starts_ms = (seen.since_ns + np.arange(len(seen.sizes)) * seen.length_ns) // 1_000_000
    bucket_s = seen.length_ns / 1e9
    buckets = Buckets(
        start_ms=starts_ms,
        concurrency=seen.own.busy_ns / seen.length_ns / seen.count,
        completions=seen.own.completions / seen.count,
        size=seen.sizes.astype(np.float64),
        cores=np.full(len(starts_ms), seen.cores),
        bucket_s=bucket_s,
    )
    observation = Observation({"pool": seen.size}, buckets, seen.cores, seen.threshold_ns / 1e9)
    _, decision = step(PoolState(), observation, int(starts_ms[-1]) + int(1_000 * bucket_s))
    return decision.state.name, decision.unguarded
