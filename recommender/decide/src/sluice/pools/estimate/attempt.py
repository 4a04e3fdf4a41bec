"""One pool's estimate as a job: the value that a worker process receives, and its result. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.pools.estimate.growth import gated, newest_size
from sluice.pools.estimate.model import Estimate
from sluice.pools.estimate.models import estimators_at
from sluice.pools.estimate.samples import Samples


@dataclass(frozen=True)
class EstimateJob:
    """model: the estimator's name. bucket_ms: length of the samples' buckets, which sets the evidence
    that is required. sized: a size is in force now. A step of growth is one from that size."""

    model: str
    samples: Samples | None
    bucket_ms: int = 100
    sized: bool = True


@dataclass(frozen=True)
class Failed:
    """An estimate that failed, and why."""

    kind: str
    text: str

    def error(self) -> Exception:
        return RuntimeError(f"{self.kind}: {self.text}")


def attempt_all(jobs: Sequence[EstimateJob]) -> list[Estimate | Failed]:
    """Runs each job by itself: a failure of one does not affect the others."""
    return [_attempt(job) for job in jobs]


def _attempt(job: EstimateJob) -> Estimate | Failed:
    """The estimate, with growth where the pool is full."""
    try:
        estimate = estimators_at(job.bucket_ms)[job.model].estimate(job.samples)
        if estimate.compares or not job.sized:
            return estimate
        size = None if job.samples is None else newest_size(job.samples)
        return gated(estimate, job.samples, size, job.bucket_ms / 1_000)
    except Exception as cause:
        return Failed(type(cause).__name__, str(cause))
