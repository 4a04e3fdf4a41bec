"""One pool's estimate as a job of its own: what a worker process is sent, and what comes back. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.collapse import Collapse, find_collapse
from sluice.pools.estimate.drift import Shift, find_shift
from sluice.pools.estimate.evidence import LEAST_BUCKETS, need_at
from sluice.pools.estimate.memory import Rates
from sluice.pools.estimate.model import Estimate, Estimator, Reason, State
from sluice.pools.estimate.models import estimators, estimators_at
from sluice.pools.estimate.samples import Samples

# With a curve of the same footing in memory 10 s of traffic do instead of 30, when both name sizes in common. The 30 s
# are there because one burst alone can show a false optimum; a second, independent sighting of it is such a burst.
FAST_SHARE = 3


@cache
def _fast_estimators_at(bucket_ms: int) -> Mapping[str, Estimator]:
    """100 ms: 100 buckets; 200 ms: 60, that is 12 s; 500 ms: 60 as without memory, since fewer have no usable means."""
    need = need_at(bucket_ms)
    return estimators(replace(need, buckets=max(LEAST_BUCKETS, need.buckets // FAST_SHARE)))


def _nothing() -> NDArray[np.int64]:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Job:
    """What one estimate is made from.

    model            of the estimator
    bucket_start_ms  of the samples, shape (n,)
    then             the remembered rates that the samples are compared with for drift, None without
    band             lower and upper bound of the remembered optimum of the same footing, None without
    bucket_ms        length of the samples' buckets: what is asked of the evidence goes by it
    """

    model: str
    samples: Samples | None
    bucket_start_ms: NDArray[np.int64] = field(default_factory=_nothing)
    then: Rates | None = None
    band: tuple[int, int] | None = None
    bucket_ms: int = 100


@dataclass(frozen=True)
class Outcome:
    """The estimate, the drift that was found, and whether the full pool collapses.

    Samples from before a drift have no part in the others.
    """

    estimate: Estimate
    shift: Shift | None = None
    collapse: Collapse | None = None


@dataclass(frozen=True)
class Failed:
    """An estimate that could not be made, and why."""

    kind: str
    text: str


def attempt(job: Job) -> Outcome:
    """The estimate; where it is still LEARNING, one from less evidence that agrees with what is remembered."""
    if job.samples is None:
        return Outcome(_estimate(job, None, job.band))
    shift = find_shift(job.samples, job.bucket_start_ms, job.then) if job.then is not None else None
    if shift is None:
        return Outcome(_estimate(job, job.samples, job.band), None, find_collapse(job.samples))
    newer = job.samples.take(job.bucket_start_ms >= shift.since_ms)
    return Outcome(_estimate(job, newer, None), shift, find_collapse(newer))


def attempt_all(jobs: Sequence[Job]) -> list[Outcome | Failed]:
    """Each for itself: one that fails does not take the others away."""
    return [_caught(job) for job in jobs]


def _estimate(job: Job, samples: Samples | None, band: tuple[int, int] | None) -> Estimate:
    estimate = estimators_at(job.bucket_ms)[job.model].estimate(samples)
    if band is None or estimate.state is not State.LEARNING:
        return estimate
    early = _fast_estimators_at(job.bucket_ms)[job.model].estimate(samples)
    lower, upper = band
    if early.state is not State.PROVIDED or early.lower_bound is None or early.upper_bound is None:
        return estimate
    if early.lower_bound > upper or early.upper_bound < lower:
        return estimate
    text = f"few buckets, and a remembered optimum of {lower}..{upper} that they agree with"
    return replace(early, reasons=(*early.reasons, Reason("AGREES_WITH_MEMORY", text)))


def _caught(job: Job) -> Outcome | Failed:
    try:
        return attempt(job)
    except Exception as cause:
        return Failed(type(cause).__name__, str(cause))
