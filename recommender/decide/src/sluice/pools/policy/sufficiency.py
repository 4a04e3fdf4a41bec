"""Whether the evidence suffices for a decision, and the belief where it does."""

from __future__ import annotations

from sluice.fast.changed import changed
from sluice.pools.estimate.belief.cache import believed
from sluice.pools.policy.lateness import SLOW, late
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.state import RECENT, Learnt

# Seconds of evidence that a decision needs. Those of a saturated pool count double, since nothing else limits
# completions in them.
LEAST_EVIDENCE_S = 4.0
# A pool has stopped after so many completions that took `SLOW` of an SLO on average, and so long without one.
STOPPED_AFTER, STOPPED_MS = 10, 3_000
# Where nothing is in time, a pool may be shrunk from this part of it in flight on.
TAKEN = 0.7


def enough(learnt: Learnt, observation: Observation) -> bool:
    """Whether the evidence on this CPU limit is enough for a decision."""
    return observation.cores >= 0 and learnt.evidence.weight(observation.cores) >= LEAST_EVIDENCE_S


def stopped(learnt: Learnt, observation: Observation) -> bool:
    """Whether a pool with too little evidence has come to a stop: what completes is late, or nothing completed for 3 s
    after 10 completions that took half of the SLO.

    A service that collapses under too large a size completes next to nothing. Requests that do not end have no spans,
    so its pool looks empty. A service whose load has gone looks the same, but its completions were quick.
    """
    if observation.cores < 0 or observation.named is not None or learnt.completed_ms is None:
        return False
    done = sum(level.completions for level in learnt.evidence.levels)
    slow = sum(level.in_flight_s for level in learnt.evidence.levels) >= SLOW * observation.slo_s * done
    silent = done >= STOPPED_AFTER and slow and learnt.until_ms - learnt.completed_ms >= STOPPED_MS
    came = observation.buckets
    in_flight_s, completions = float(came.concurrency.sum()) * came.bucket_s, float(came.completions.sum())
    return len(learnt.full) >= RECENT and (silent or late(in_flight_s, completions, observation.slo_s, came.in_time))


def taken(observation: Observation, current: int) -> bool:
    """Whether most of the pool is in flight, though it is not full. Of a pool of 64 with 57 in flight, all of them
    late, some threads are always between two requests."""
    came = observation.buckets
    return len(came) > 0 and float(came.concurrency.mean()) >= TAKEN * current


def judged(learnt: Learnt, observation: Observation) -> Learnt:
    """Adds the present belief, on the present CPU limit."""
    if not enough(learnt, observation) and not stopped(learnt, observation):
        return learnt
    return changed(learnt, kept=believed(learnt.kept, learnt.evidence, observation.cores))
