"""One pool's estimate as a job of its own: what a worker process is sent, and what comes back. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sluice.pools.estimate.model import Estimate
from sluice.pools.estimate.models import estimators_at
from sluice.pools.estimate.samples import Samples


@dataclass(frozen=True)
class Job:
    """model: of the estimator. bucket_ms: length of the samples' buckets; what is asked of the evidence goes by it."""

    model: str
    samples: Samples | None
    bucket_ms: int = 100


@dataclass(frozen=True)
class Failed:
    """An estimate that could not be made, and why."""

    kind: str
    text: str

    def error(self) -> Exception:
        return RuntimeError(f"{self.kind}: {self.text}")


def attempt_all(jobs: Sequence[Job]) -> list[Estimate | Failed]:
    """Each for itself: one that fails does not take the others away."""
    return [_attempt(job) for job in jobs]


def _attempt(job: Job) -> Estimate | Failed:
    try:
        return estimators_at(job.bucket_ms)[job.model].estimate(job.samples)
    except Exception as cause:
        return Failed(type(cause).__name__, str(cause))
