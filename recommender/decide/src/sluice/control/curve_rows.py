"""Remembered curves as rows of the table `curves`, and back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

import numpy as np

from sluice.control.curves import Kept
from sluice.core.keys import PoolKey
from sluice.pools.estimate.memory import Footing, Rates, Remembered
from sluice.pools.estimate.samples import Floats
from sluice.serve.outbox import Row


def curve_row(kept: Kept) -> Row:
    """In the order of COLUMNS["curves"]. A CPU limit that nobody told is 0, since it is part of the table's key."""
    footing, found = kept.footing, kept.found
    key = (
        *kept.key,
        footing.cpu_limit_cores or 0.0,
        footing.version,
        footing.peer_cpu_limit_cores or 0.0,
        footing.peer_version,
        datetime.fromtimestamp(kept.at_ms / 1000, UTC),
    )
    if found is None:
        return (*key, None, None, None, "", 0.0, 0, [], [], [], [])
    bounds = (found.target, found.lower_bound, found.upper_bound)
    rates = found.rates
    levels = (rates.concurrency.tolist(), rates.goodput_per_s.tolist(), rates.throughput_per_s.tolist())
    counts = rates.count.astype(np.int64).tolist()
    return (*key, *bounds, found.model, found.threshold_ms, found.bucket_ms, *levels, counts)


def curve_of(row: tuple[object, ...]) -> Kept:
    """From a row of `curves.sql`."""
    service, side, peer, cores, version, peer_cores, peer_version, at_ms, *rest = cast(tuple[Any, ...], row)
    key, footing = PoolKey(service, side, peer), Footing(cores or None, version, peer_cores or None, peer_version)
    target, lower, upper, model, threshold_ms, bucket_ms, *arrays = rest
    if target is None:
        return Kept(key, footing, at_ms, None)
    rates = Rates(*(_floats(array) for array in arrays))
    return Kept(key, footing, at_ms, Remembered(at_ms, target, lower, upper, model, threshold_ms, bucket_ms, rates))


def _floats(values: object) -> Floats:
    return np.asarray(values, dtype=np.float64)
