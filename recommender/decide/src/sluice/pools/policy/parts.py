"""Cuts windows into seconds, each under one size and CPU limit."""

from __future__ import annotations

from math import isnan, nan
from typing import NamedTuple

import numpy as np

from sluice.pools.estimate.belief.evidence import Second, runs
from sluice.pools.estimate.belief.family import Floats
from sluice.pools.policy.observation import Buckets
from sluice.pools.policy.state import Change

# Seconds so soon after a pool has grown belong to the new size, and do not contradict those of other sizes. Where a
# service falls off an edge they would otherwise look like another service, and the evidence against that size would be
# forgotten.
TRIED_MS = 6_000


class Part(NamedTuple):
    """A run of buckets of one second under one size and CPU limit. start_ms: of its first bucket.

    full: the share of full buckets, None where no size was reported. second: None where the buckets say nothing. tried:
    the pool has just grown to its size. in_time: `Buckets.in_time`.
    """

    start_ms: int
    full: float | None
    second: Second | None
    tried: bool
    wait_s: float = nan
    in_time: float = nan


def parts_of(new: Buckets, change: Change | None) -> list[Part]:
    """Cuts buckets into parts. A second in which the size or the CPU limit changes becomes two."""
    parts, good = [], np.maximum(new.completions - new.errors, 0.0)
    judged, waits = not np.isnan(new.good).all(), not np.isnan(new.waiting).all()
    ran = runs((new.start_ms, new.concurrency, good, new.size, new.cores), new.bucket_s, new.known_ms)
    for at, run in enumerate(ran):
        of = slice(run.low, ran[at + 1].low if at + 1 < len(ran) else len(new))
        wait_s = _wait_s(new, good, of) if waits else nan
        size, start_ms = float(new.size[run.low]), int(new.start_ms[run.low])
        full = None if isnan(run.full) else run.full
        in_time = new.take(of).in_time if judged else nan
        parts.append(Part(start_ms, full, run.second, _tried(change, size, start_ms), wait_s, in_time))
    return parts


def _wait_s(new: Buckets, completions: Floats, part: slice) -> float:
    """The mean time that a request waits for callees, in the buckets where that is known; NaN where it is known in less
    than a third of them."""
    known = ~np.isnan(new.waiting[part])
    done = float(completions[part][known].sum())
    if done <= 0 or 3 * known.sum() < len(known):
        return nan
    return float(new.waiting[part][known].sum()) * new.bucket_s / done


def _tried(change: Change | None, size: float, start_ms: int) -> bool:
    if change is None or size != change.to_size or change.to_size <= change.from_size:
        return False
    return _just(change, start_ms)


def _just(change: Change, start_ms: int) -> bool:
    return change.at_ms <= start_ms < change.at_ms + TRIED_MS
