"""The evidence of a pool of which a known part of the requests is seen. Answers name a best size by it. No decision
rests on it: it is kept apart, it is not written, and it ends with the sampler.

The sampler keeps each trace with the probability p. Buckets are summed to a stretch of 300 kept requests or more, and
of 1 to 50 s. With N of them in L seconds:

- Completions: N in p L seconds. That is the rate of all requests. Its variance is 1/N in ln: 1/p times the Poisson
  variance of all N/p. So a second of evidence has as many seen requests as one without a sampler.
- Concurrency: 1/p times the seen one. Its error follows from N and from the variation c of the times, sqrt((1 + c^2) /
  N): 7 % of 300 where c is 0.7. So no bucket of 100 ms shows a full pool, and a stretch is full by its mean, or by its
  targets' occupancy.
- A full stretch counts at the size in force, which has no error. Its own mean and its completions have the same N in
  their errors: a flat curve would seem to rise in proportion to concurrency, and a larger size to be better.
- A stretch that is not full counts at its mean, where its thirds are alike. On the rising part of a curve the common
  error leads along the curve.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sluice.fast.changed import changed
from sluice.pools.estimate.belief.evidence import Second, ended
from sluice.pools.policy.allowed import TOLD_IDLE, TOLD_READINGS
from sluice.pools.policy.lateness import late
from sluice.pools.policy.learn import of_version
from sluice.pools.policy.observation import Buckets, Observation, Occupancy
from sluice.pools.policy.seconds import with_seconds
from sluice.pools.policy.state import Learnt, Scaled
from sluice.pools.sampling.verdict import Sampling

# With less than one request in 20 kept, too few are seen in a time in which a load stays.
LEAST_KEPT = 0.05
# A probability that moves by this part is another sampler's.
MOVED = 0.1
# A stretch has so many kept requests, and is so long. With fewer in LONGEST_S it says nothing. With 20 s, of full pools
# at 14 kept requests a second only the stretches counted in which 12 % more than the mean completed.
LEAST_SPANS, SHORTEST_S, LONGEST_S = 300, 1.0, 50.0
# One that is not full is no longer than this: in 40 s a load moves, and a slope is no level.
PARTIAL_S = 20.0
# The error of the concurrency of N kept requests, times sqrt(N): times that vary by 0.7 of their mean.
ERROR = 1.22
# Parts of the size in flight, over a stretch, of a full pool and of one that is not.
FULL, PARTIAL, OVER = 0.9, 0.75, 1.15
# Thirds of a stretch are alike up to this ratio (as `evidence.MIXES`), beside their errors.
ALIKE = 2.0


def scalable(sampling: Sampling | None) -> bool:
    """Whether windows of the sample show the whole: each trace had the same, known chance, of 1 in 20 at least."""
    return sampling is not None and sampling.uniform and sampling.kept is not None and sampling.kept >= LEAST_KEPT


def scaled(last: Scaled | None, observation: Observation) -> Scaled | None:
    """The evidence with the stretches that are new in `observation.sampled`. None where the spans are no sample that
    can be scaled; a sampler that begins, or keeps another part, begins without evidence."""
    sampling, buckets = observation.sampling, observation.sampled
    if not scalable(sampling) or sampling is None or sampling.kept is None or buckets is None:
        return None
    if last is None or abs(sampling.kept / last.kept - 1) > MOVED:
        # What is there already may be of the time before.
        until_ms = int(buckets.start_ms[-1]) if len(buckets) else -1
        return Scaled(sampling.kept, Learnt(until_ms=until_ms)) if len(buckets) else None
    learnt = last.learnt
    if observation.version not in ("", learnt.version):
        learnt = changed(of_version(learnt, observation.version), versions=())
    seconds, until_ms = stretches(buckets, sampling.kept, observation.occupancy, learnt.until_ms)
    if not observation.constraints.callee:
        says = [
            (second, False)
            for second in seconds
            if second.full or not late(second.concurrency * second.seconds, second.completions, observation.slo_s)
        ]
        learnt = with_seconds(learnt, says)
    return Scaled(last.kept, changed(learnt, until_ms=until_ms))


def stretches(buckets: Buckets, kept: float, occupancy: Occupancy | None, until_ms: int) -> tuple[list[Second], int]:
    """What the buckets after `until_ms` show, and the start of the last bucket of the last stretch: later ones are not
    enough for another one. kept: the probability, > 0. Each `Second` counts kept requests, in p times its length.

    Worked, 10 % of a full pool of 10 with 1,000 a second: 1 in flight and 100 a second are seen. 3 s have 300 of them.
    They count as 300 completions in 0.3 s at 10, known within 6 % as 300 of all would be.
    """
    seconds: list[Second] = []
    if (np.diff(buckets.start_ms) <= 0).any():
        return [], int(buckets.start_ms.max())  # of targets with different sizes, one after the other
    at = int(np.searchsorted(buckets.start_ms, until_ms, side="right"))
    sums = np.cumsum(buckets.completions)
    shortest, longest = round(SHORTEST_S / buckets.bucket_s), round(LONGEST_S / buckets.bucket_s)
    while at < len(buckets):
        before = float(sums[at - 1]) if at else 0.0
        end = max(at + shortest, int(np.searchsorted(sums, before + LEAST_SPANS)) + 1)
        if min(end, at + longest) > len(buckets):
            break
        if end <= at + longest:
            seconds += _second(buckets.take(slice(at, end)), kept, occupancy)
        at = min(end, at + longest)
        until_ms = int(buckets.start_ms[at - 1])
    return seconds, until_ms


def _second(part: Buckets, kept: float, occupancy: Occupancy | None) -> list[Second]:
    """Nothing where size or CPU limit changed or is unknown, the pool filled or drained, or was nearly full."""
    size, cores = float(part.size[0]), float(part.cores[0])
    if (part.size != size).any() or (part.cores != cores).any() or not size >= 1:
        return []
    all_done, seen = float(part.completions.sum()), part.concurrency / kept
    good, mean, length_s = all_done - float(part.errors.sum()), float(seen.mean()), len(part) * part.bucket_s
    if good <= 0 or mean <= 0 or mean > max(OVER * size, size + 0.5) * (1 + ERROR / sqrt(all_done)):
        return []
    age_s = max(0.0, (part.known_ms - int(part.start_ms[-1])) / 1_000 - part.bucket_s)
    full = _reported(occupancy, size)
    full = mean >= FULL * size if full is None else full
    if full:
        return [Second(cores, True, True, size, good, length_s * kept)]
    third = len(seen) // 3
    thirds = [float(seen[first : first + third].mean()) for first in (0, third, len(seen) - third)]
    mean = float(np.mean(ended(int(size), [mean], all_done / kept / length_s * age_s)))
    if (
        mean > PARTIAL * size
        or length_s > PARTIAL_S
        or max(thirds) > (ALIKE + 2 * ERROR * sqrt(3 / all_done)) * min(thirds)
    ):
        return []
    return [Second(cores, False, False, mean, good, length_s * kept)]


def _reported(occupancy: Occupancy | None, size: float) -> bool | None:
    """Whether targets report a full pool, or one with room; None where they do not tell."""
    if occupancy is None or occupancy.coarse:
        return None
    if occupancy.full and occupancy.busy >= FULL * size:
        return True
    idle = occupancy.full_share == 0 and occupancy.readings >= TOLD_READINGS
    return False if idle and occupancy.busy_most < TOLD_IDLE * size else None
