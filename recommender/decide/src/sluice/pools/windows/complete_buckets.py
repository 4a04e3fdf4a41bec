"""The values of a pool, or of one target of it, in each complete bucket: pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sluice.pools.policy.observation import Buckets
from sluice.pools.windows.rows import Ints

# A source is present from so long before its first busy bucket until so long after its last.
AROUND_MS = 5_000


def whole(
    start_ms: Ints, busy_ns: Ints, completions: Ints, errors: Ints, before_ms: int, bucket_ms: int
) -> Buckets | None:
    """The complete buckets of k instances from the first busy one on, without gaps. busy_ns, completions and errors
    have the shape (k, n). None when there is no such bucket.

    start_ms  of n buckets without gaps, including incomplete ones
    before_ms  buckets that start before this are complete

    An instance with nothing in flight in a bucket between two busy ones is present and idle. Divided among the busy
    ones alone, a light pool would seem to have more in flight at each instance than it has. Worked: two instances, one
    busy in every bucket with 1 in flight, the other with 2 in every second bucket: 1.5 and 0.5 of each of two, not 1.5
    and 1.
    """
    busy: NDArray[np.bool_] = busy_ns > 0
    of_any = np.flatnonzero(busy[0] if len(busy) == 1 else busy.any(axis=0))
    end = int(np.searchsorted(start_ms, before_ms))
    if len(of_any) == 0 or of_any[0] >= end:
        return None
    part = slice(int(of_any[0]), end)
    there = _there(busy, AROUND_MS // bucket_ms)[part]
    return Buckets(
        start_ms=start_ms[part],
        concurrency=_summed(busy_ns[:, part]) / (bucket_ms * 1e6 * there),
        completions=_summed(completions[:, part]) / there,
        bucket_s=bucket_ms / 1_000,
        errors=_summed(errors[:, part]) / there,
        instances=there,
    )


def alone(
    start_ms: Ints, busy_ns: Ints, completions: Ints, errors: Ints, before_ms: int, bucket_ms: int
) -> Buckets | None:
    """As `whole`, of one instance, while it is present; busy_ns, completions and errors of shape (n,)."""
    at = np.flatnonzero(busy_ns)
    if len(at) == 0:
        return None
    gone_ms = int(start_ms[at[-1]]) + AROUND_MS + bucket_ms
    return whole(start_ms, busy_ns[None], completions[None], errors[None], min(before_ms, gone_ms), bucket_ms)


def _summed(rows: Ints) -> Ints:
    sums: Ints = rows[0] if len(rows) == 1 else rows.sum(axis=0)
    return sums


def _there(busy: NDArray[np.bool_], around: int) -> Ints:
    """The number of instances present in each bucket, shape (n,); at least one."""
    instances, buckets = busy.shape
    if instances == 1:
        return np.ones(buckets, dtype=np.int64)
    busy = busy[busy.any(axis=1)]
    first = np.maximum(busy.argmax(axis=1) - around, 0)
    behind = np.minimum(buckets - busy[:, ::-1].argmax(axis=1) + around, buckets)
    steps = np.bincount(first, minlength=buckets + 1) - np.bincount(behind, minlength=buckets + 1)
    return np.maximum(np.cumsum(steps[:-1]), 1)
