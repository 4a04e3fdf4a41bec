"""The size that the belief calls best by one window alone, beside what an estimator names by it."""

from __future__ import annotations

import numpy as np

from sluice.pools.policy.observation import Buckets, Observation
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.step import step
from testbed.fine import PoolWindows


def best_size(windows: PoolWindows) -> tuple[str, int | None]:
    """The state of a pool of which nothing was known before, and the best size, reachable or not: None while nothing
    is believed."""
    starts_ms = (windows.since_ns + np.arange(len(windows.sizes)) * windows.length_ns) // 1_000_000
    bucket_s = windows.length_ns / 1e9
    buckets = Buckets(
        start_ms=starts_ms,
        concurrency=windows.own.busy_ns / windows.length_ns / windows.count,
        completions=windows.own.completions / windows.count,
        size=windows.sizes.astype(np.float64),
        cores=np.full(len(starts_ms), windows.cores),
        bucket_s=bucket_s,
    )
    observation = Observation({"pool": windows.size}, buckets, windows.cores, windows.threshold_ns / 1e9)
    _, decision = step(PoolState(), observation, int(starts_ms[-1]) + int(1_000 * bucket_s))
    return decision.state.name, decision.unguarded
