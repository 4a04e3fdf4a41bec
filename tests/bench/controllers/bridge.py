"""Makes the estimators' samples of the testbed's windows, as `pools.windows.rows.measure` does of stored rows."""

from __future__ import annotations

import numpy as np

from sluice.pools.estimate.samples import Samples
from testbed.fine import PoolWindows


def samples_of(windows: PoolWindows) -> Samples | None:
    """Per instance, of the buckets with something in flight; None when nothing was judged.

    Worked: 100 ms with 200 ms of busy time on two instances and 6 good of 8 judged: concurrency 1, goodput 30/s.
    """
    own, judge = windows.own, windows.judge
    keep = (own.busy_ns > 0) & (own.instances > 0)
    if judge.completions[keep].sum() == 0:
        return None
    instances = own.instances[keep].astype(np.float64)
    a_second = 1e9 / windows.length_ns
    return Samples(
        concurrency=own.busy_ns[keep] / windows.length_ns / instances,
        goodput_per_s=judge.good[keep] * a_second / instances,
        throughput_per_s=own.completions[keep] * a_second / instances,
        completions=judge.completions[keep].astype(np.float64),
        limit=windows.sizes[keep].astype(np.float64),
        instances=int(instances.max()),
        caller_judged=True,
    )
