"""From windows to evidence: cut into seconds, each believed or doubted."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.belief.doubt import LEAST_S, Doubt, believe, contradiction
from sluice.pools.estimate.belief.evidence import Evidence, Second, second, share_full
from sluice.pools.estimate.belief.family import Floats
from sluice.pools.estimate.belief.kept import believed
from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.observation import Buckets
from sluice.pools.policy.state import RECENT, Change, Learnt

# What is seen so soon after a pool has grown is of the size, and no contradiction of what was seen of others: where a
# service falls off an edge, that would be taken for another service, and what says where not to go again forgotten.
TRIED_MS = 6_000
# The log likelihood ratio of a second that is no contradiction, whatever the seconds before it in its period were.
EXPECTED = -1.0
# Other versions that are remembered.
MOST_VERSIONS = 3


def learn(learnt: Learnt, buckets: Buckets, change: Change | None = None) -> Learnt:
    """Takes in what is newer than `until_ms`; older buckets were taken already. change: the last one decided."""
    newer = buckets.start_ms > learnt.until_ms
    if not newer.any():
        return learnt
    new = buckets if newer.all() else buckets.take(newer)
    full = learnt.full
    for part in _seconds(new):
        size, cores = part.size[0], part.cores[0]
        if not np.isnan(size):
            full = (*full, share_full(int(size), part.concurrency))
        if not (np.isnan(size) or np.isnan(cores)):
            seen = second(float(cores), int(size), part.concurrency, part.completions, part.bucket_s)
            learnt = learnt if seen is None else _believed(learnt, seen, _tried(change, part))
    done = np.flatnonzero(new.completions > 0)
    completed = int(new.start_ms[done[-1]]) if len(done) else learnt.completed_ms
    return replace(learnt, full=full[-RECENT:], until_ms=int(new.start_ms[-1]), completed_ms=completed)


def of_version(learnt: Learnt, version: str) -> Learnt:
    """Another version of the service is another service; one that comes back is known.

    Nobody told which version it is ("") until somebody does: that is no change.
    """
    if version in ("", learnt.version):
        return learnt
    if not learnt.version:
        return replace(learnt, version=version)
    others = [each for each in learnt.versions if each[0] not in (version, learnt.version)]
    known = dict(learnt.versions).get(version)
    return replace(
        learnt,
        version=version,
        evidence=known or Evidence(),
        doubt=Doubt(),
        remembered=known is not None,
        versions=(*others, (learnt.version, learnt.evidence))[-MOST_VERSIONS:],
    )


def _tried(change: Change | None, part: Buckets) -> bool:
    """Whether the pool has grown to its size just now."""
    if change is None or part.size[0] != change.to_size or change.to_size <= change.from_size:
        return False
    return change.at_ms <= int(part.start_ms[0]) < change.at_ms + TRIED_MS


def _believed(learnt: Learnt, seen: Second, tried: bool) -> Learnt:
    if tried:
        # What lay aside was of the size before, and is left out.
        return replace(learnt, evidence=learnt.evidence.with_second(seen), doubt=Doubt())
    kept = learnt.kept
    if kept is not None and kept.cores == seen.cores and _expected(learnt, kept.now, seen):
        return replace(learnt, evidence=learnt.evidence.with_second(seen))
    if learnt.evidence.seconds_on(seen.cores) >= LEAST_S:
        kept = believed(kept, learnt.evidence, seen.cores)
    verdict = believe(learnt.evidence, learnt.doubt, seen, kept.now if kept else None)
    # What was seen of other versions stays: they are others still.
    return replace(
        learnt,
        evidence=verdict.evidence,
        doubt=verdict.doubt,
        remembered=learnt.remembered and not verdict.moved,
        kept=kept,
    )


def _expected(learnt: Learnt, now: Posterior, seen: Second) -> bool:
    """Whether a second is so near to what was believed some seconds ago that the belief need not be made anew to say
    that it is no contradiction: where a period brings many seconds, it is made once for all of them."""
    return learnt.doubt == Doubt() and contradiction(now, seen, 1.0) < EXPECTED


def _seconds(buckets: Buckets) -> list[Buckets]:
    """Runs of buckets of the same second under the same size and cores: a second with a change in it is two."""
    at = buckets.start_ms // 1_000
    changes = np.flatnonzero((at[1:] != at[:-1]) | _other(buckets.size) | _other(buckets.cores))
    if len(changes) == 0:
        return [buckets]
    edges = [0, *(changes + 1).tolist(), len(buckets)]
    return [buckets.take(slice(low, high)) for low, high in pairwise(edges)]


def _other(of: Floats) -> NDArray[np.bool_]:
    """Whether the next bucket has another one, shape (n - 1,); that nobody told is no other one than that."""
    before, after = of[:-1], of[1:]
    found: NDArray[np.bool_] = (before != after) & ((before == before) | (after == after))
    return found
