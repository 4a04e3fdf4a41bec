"""Response times of a pool per minute, and how many requests were in flight, for a derived threshold. The rule for both
is that of `pools/windows/minutes.sql`. Pure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sluice.cli.traces.report.analysis.names import Ints
from sluice.cli.traces.report.analysis.ranks import nearest_rank
from sluice.cli.traces.report.analysis.windows import BUCKET_MS, Windows
from sluice.model.keys import PoolKey
from sluice.pools.estimate.derived import LEAST_COMPLETIONS, NOT_FULL, derived_threshold
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.sizes import Sizes

MINUTE_MS = 60_000


class MinuteTimes(NamedTuple):
    """in_flight: in the busiest instance, as a mean over the minute. p95_ms, p99_ms: of the spans that judge it."""

    start_ms: int
    in_flight: float
    p95_ms: float
    p99_ms: float


def minutes_of(windows: Windows, end_ns: Ints, took_ns: Ints) -> tuple[MinuteTimes, ...]:
    """The whole minutes with 20 completions. windows: of the pool; end_ns, took_ns: of the spans that judge it."""
    minute = windows.bucket * BUCKET_MS // MINUTE_MS
    busy: dict[int, float] = {}
    keys, which = np.unique(np.stack([windows.series, minute]), axis=1, return_inverse=True)
    for at, held_ns in zip(keys[1].tolist(), np.bincount(which.reshape(-1), windows.busy_ns).tolist(), strict=True):
        busy[at] = max(busy.get(at, 0.0), held_ns / (MINUTE_MS * 1e6))
    ended = end_ns // (MINUTE_MS * 1_000_000)
    order = np.lexsort((took_ns, ended))
    ended, took_ns = ended[order], took_ns[order]
    found = []
    for at in sorted(busy)[1:-1]:  # the first and the last one may be parts
        took = took_ns[slice(*np.searchsorted(ended, (at, at + 1)))]
        if len(took) >= LEAST_COMPLETIONS:
            p95_ms, p99_ms = (nearest_rank(took, share) / 1e6 for share in (0.95, 0.99))
            found.append(MinuteTimes(at * MINUTE_MS, busy[at], p95_ms, p99_ms))
    return tuple(found)


def threshold_of(minutes: tuple[MinuteTimes, ...], sizes: Sizes, key: PoolKey) -> Threshold:
    """The threshold derived from the minutes in which at most half of the pool was in use."""
    size = sizes.limits(key, np.array([minute.start_ms for minute in minutes], dtype=np.int64)) if minutes else None
    counted = (
        [] if size is None else [one for one, of in zip(minutes, size, strict=True) if one.in_flight <= NOT_FULL * of]
    )
    return derived_threshold([one.p95_ms for one in counted], [one.p99_ms for one in counted], None, False)
