"""The loop of `pools.policy.pace` over buckets, compiled by Numba as those over shapes are (`belief.py`)."""

from __future__ import annotations

import numpy as np

from sluice.fast.belief import Floats, compiled

SECOND, SIZE, GOOD, FAILED, IN_FLIGHT_S, LENGTH_S, JUDGED, IN_TIME, CALLERS_S = range(9)


@compiled
def beats_with(last: Floats, buckets: Floats, bucket_s: float) -> Floats:
    """`pace.with_beats`: the beats from `last` on, which the buckets continue, shape (k, 9), columns as the fields of
    `Beat`. last: (9,), of size -1 where there is none. buckets: start_ms, size, completions, errors, concurrency, good
    and callers, (7, n)."""
    start_ms, size, completions, errors = buckets[0], buckets[1], buckets[2], buckets[3]
    concurrency, good, callers = buckets[4], buckets[5], buckets[6]
    beats, at, judged = np.zeros((1 + len(size), 9)), 0, not np.isnan(good).all()
    beats[0] = last
    for bucket in range(len(size)):
        if np.isnan(size[bucket]):
            continue
        second, of_size = start_ms[bucket] // 1_000, int(size[bucket])
        if second != beats[at, SECOND] or of_size != beats[at, SIZE]:
            at += 1 if beats[at, SIZE] >= 0 else 0
            beats[at, SECOND], beats[at, SIZE] = second, of_size
        fine = max(0.0, completions[bucket] - errors[bucket])
        beats[at, GOOD] += fine
        beats[at, FAILED] += errors[bucket]
        beats[at, IN_FLIGHT_S] += concurrency[bucket] * bucket_s
        beats[at, LENGTH_S] += bucket_s
        if not np.isnan(good[bucket]):
            beats[at, JUDGED] += fine
            beats[at, IN_TIME] += good[bucket]
        if judged and not np.isnan(callers[bucket]):
            beats[at, CALLERS_S] += callers[bucket] * bucket_s
    return beats[: at + 1] if beats[at, SIZE] >= 0 else beats[:0]
