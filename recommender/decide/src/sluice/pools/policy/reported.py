"""Replaces the concurrency that spans show by what targets report of the pool, where these differ. Pure."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.belief.evidence import DRAINS, ENDED, OVER
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.estimate.samples import is_full
from sluice.pools.policy.allowed import TOLD_IDLE, TOLD_READINGS
from sluice.pools.policy.observation import Buckets, Occupancy
from sluice.pools.policy.state import Shown
from sluice.pools.policy.trust import Trust

# How long after a second that spans show as full they are taken to show all that the pool holds.
SPANS_SHOW_MS = 60_000
# In such a second they have it full in this part of the buckets.
SPANS_FULL = 0.2
# A pool for which so many callers waited, on the mean of the time between two coarse readings, was full: they waited
# for 12 s in a minute, as 4 callers do in 3 s. It was so whenever spans show this part of the most that they show; the
# rest is held between queries.
QUEUED, SPANS_NEAR = 0.2, 0.75
# Spans that never show half of a pool in use do not tell when it was full.
SPANS_LEAST = 0.5
# How long the most that spans show counts.
SHOWN_MS = 120_000
# Spans beyond the size are of requests that wait, where so many callers do on the mean of the last readings.
WAITING = 1.0
# How long a pool may have requests of an earlier size, in s and in stays of a request.
SETTLES_S, SETTLES_STAYS = 2.0, 3.0


def spans_full(before_ms: int, buckets: Buckets) -> int:
    """The newest second, ms of Unix time, in which spans have the pool full in a fifth of the buckets; `before_ms`
    where these buckets have none. Spans that do not show all that a pool holds rarely fill it for 200 ms."""
    full = is_full(buckets.concurrency, buckets.size)
    if not full.any():
        return before_ms
    seconds, _, part = _by_second(buckets, full)
    full_seconds = seconds[part >= SPANS_FULL]
    return max(before_ms, 1_000 * int(full_seconds[-1])) if len(full_seconds) else before_ms


def shown(before: Shown, buckets: Buckets) -> Shown:
    """The most of the pool that spans show in use in one second of the newest two minutes.

    Worked: 56 and 61.4 of 64 are 0.96, until two minutes have passed or a second has more.
    """
    if len(buckets) == 0 or not buckets.size[-1] >= 1:
        return before
    seconds, _, parts = _by_second(buckets, np.nan_to_num(buckets.concurrency / buckets.size))
    most = int(parts.argmax())
    newest = Shown(float(parts[most]), 1_000 * int(seconds[most]))
    return before if before.part > newest.part and buckets.start_ms[-1] - before.at_ms <= SHOWN_MS else newest


def with_occupancy(
    buckets: Buckets,
    occupancy: Occupancy | None,
    spans_full_ms: int = -1,
    most: float = 0.0,
    settled_ms: float = inf,
) -> Buckets:
    """The concurrency that targets report, where spans show another fullness. A connection held between queries has no
    span, and nested spans are more than a thread.

    Spans that had the pool full in the newest minute (`spans_full_ms`) show all that it holds, so a report of a full
    pool replaces nothing: it is up to 15 s old, and the pool may be idle by now. They do not where requests stay so
    long that some have not ended. A report with more in use than the size is of a pool that drains, and replaces
    nothing. No report says what the pool held before its first reading: a pool of 89 may have filled then.

    Worked, a pool of 4 that is reported full: 0.4 in flight by spans become 4. A pool of 34 with 5 busy, and at most 20
    in 10 readings, 40 by spans: 5. Coarse readings replace nothing: a minute-old one says little of these buckets. A
    counter of the time that callers waited is no moment: with two waiting on its mean, and spans that show 0.96 of the
    pool at the most, 46.1 of 64 become 64, and 46 do not.

    Of a pool that is reported full, or for which callers wait, and that does not drain, spans beyond its size are of
    requests that wait for it: some instrumentations begin a span before the request has its connection. Worked: 13
    spans for 4 sockets: 4. Full in a quarter of the readings, with 5 that wait on their mean: 11 spans for 3 sockets
    are 3, and 2 are 2.

    most: the part of the pool that spans show at the most (`shown`), of a pool that no actuator reports; coarse
    readings never lead to an APPLY. settled_ms: from then on no request of a larger size is left (`settled`).
    """
    if occupancy is None or len(buckets) == 0:
        return buckets
    size, by_spans = buckets.size, buckets.concurrency
    if occupancy.coarse:
        held = (by_spans >= SPANS_NEAR * min(most, 1.0) * size) & (by_spans < size)
        if occupancy.queued < QUEUED or most < SPANS_LEAST or not held.any():
            return buckets
        return replace(buckets, concurrency=np.where(held, size, by_spans))
    if occupancy.busy > DRAINS * float(size[-1]):
        return buckets
    if occupancy.full:
        shown = spans_full_ms >= 0 and int(buckets.start_ms[-1]) - spans_full_ms <= SPANS_SHOW_MS
        if shown and not _unended(buckets):
            return _without_the_wait(buckets, settled_ms)
        read = (occupancy.busy >= 0.9 * size) & (buckets.start_ms >= occupancy.since_ms)
        return replace(buckets, concurrency=np.where(read, size, by_spans))
    if occupancy.full_share == 0 and occupancy.readings >= TOLD_READINGS:
        never = occupancy.busy_most < TOLD_IDLE * size
        return replace(buckets, concurrency=np.where((by_spans >= 0.9 * size) & never, occupancy.busy, by_spans))
    return _without_the_wait(buckets, settled_ms) if (occupancy.waiting or 0.0) >= WAITING else buckets


def _without_the_wait(buckets: Buckets, settled_ms: float) -> Buckets:
    """Spans beyond the size at the size. In a second with more on the mean the pool was full throughout: where a
    service is quick for a moment, more complete and fewer wait, which is no evidence of a smaller pool.

    Worked, 3 sockets: 14, 9, 3 and 1.2 in a second are 6.8 on the mean, so 3 in each bucket; 5, 1, 1 and 1 are 3, 1, 1
    and 1.
    """
    size, beyond = buckets.size, buckets.concurrency > buckets.size
    if not beyond.any():
        return buckets
    _, of, mean = _by_second(buckets, buckets.concurrency)
    waits = (beyond | (mean[of] > OVER * size)) & (buckets.start_ms >= settled_ms)
    return replace(buckets, concurrency=np.where(waits, size, buckets.concurrency)) if waits.any() else buckets


def _by_second(buckets: Buckets, values: Floats | NDArray[np.bool_]) -> tuple[Ints, Ints, Floats]:
    """Seconds, Unix time, ascending, (k,); the index of each bucket's second, (n,); the mean of `values`, (n,), in each
    second, (k,)."""
    seconds, of, count = np.unique(buckets.start_ms // 1_000, return_inverse=True, return_counts=True)
    return seconds, of, np.bincount(of, weights=values) / count


def settled(trust: Trust, size: int | None, of: int | None, buckets: Buckets) -> float:
    """From when on all requests in the pool came under the size in force: 2 s after it was read, or three stays. of:
    the size as last read. Unix time in ms, infinite where the size has just changed.

    Worked, read at second 10: 13 spans and 73 completions a second are 0.18 s, so from 12 s on; 40 and 20 are 2 s: from
    16 s on.
    """
    if size is None or size != of:
        return inf
    in_flight_s, done = float(buckets.concurrency.sum()) * buckets.bucket_s, float(buckets.completions.sum())
    return trust.since_ms + 1_000 * max(SETTLES_S, SETTLES_STAYS * in_flight_s / done) if done > 0 else inf


def _unended(buckets: Buckets) -> bool:
    """Whether requests may be missing that have not ended (`belief.evidence.ended`). Worked, read after 2 s: 17 in
    flight and 11 a second stay for 1.5 s, over 0.3 of that; 3.9 and 73 a second do not."""
    end_ms = float(buckets.start_ms[-1]) + 1_000 * buckets.bucket_s
    age_s = max(0.0, (buckets.known_ms - end_ms) / 1_000)
    in_flight_s, done = float(buckets.concurrency.sum()) * buckets.bucket_s, float(buckets.completions.sum())
    return in_flight_s > 0 and (done <= 0 or in_flight_s > ENDED * age_s * done)
