"""What the spans that judge a pool show in each bucket: completions in time, and callers. Pure."""

from __future__ import annotations

import numpy as np

from sluice.fast.changed import changed
from sluice.pools.policy.observation import Buckets
from sluice.pools.windows.rows import WindowRows


def with_good(buckets: Buckets, rows: WindowRows, by_caller: bool, bucket_ms: int) -> Buckets:
    """Adds `good` and `callers` to buckets of which `instances` is known, from the rows of these buckets.

    by_caller: whether the window has spans of callers, which contain the wait for the pool. Then these judge, else the
    pool's own.

    good: completions by the part of the judging spans' completions that is within the threshold, less the errors. NaN
    in a bucket in which none of these ends. callers: NaN where the pool's own spans judge.

    Worked: 20 completions, 1 of them failed, and 9 of 10 calls in time: 20 x 0.9 - 1 = 17. Calls that take 0.3 s of a
    bucket of 0.1 s, of 2 instances: 3 in flight, 1.5 for each.
    """
    done = rows.judge_completions if by_caller else rows.own_completions
    good = rows.judge_good if by_caller else rows.own_good
    part, callers = np.full(len(buckets), np.nan), np.full(len(buckets), np.nan)
    _, at, of = np.intersect1d(buckets.start_ms, rows.bucket_start_ms, assume_unique=True, return_indices=True)
    some = done[of] > 0
    part[at[some]] = good[of][some] / done[of][some]
    if by_caller and buckets.instances is not None:
        callers[at] = rows.judge_busy_ns[of] / (bucket_ms * 1e6) / buckets.instances[at]
    return changed(buckets, good=np.maximum(part * buckets.completions - buckets.errors, 0.0), callers=callers)
