"""Takes seconds into the evidence: believes or doubts each, and leaves out those of a pool that recovers."""

from __future__ import annotations

from itertools import takewhile
from math import exp

import numpy as np

from sluice.fast.changed import changed
from sluice.pools.estimate.belief.cache import CachedBelief, believed
from sluice.pools.estimate.belief.doubt import LEAST_S, Doubt, believe, contradictions
from sluice.pools.estimate.belief.edge import DEEPER
from sluice.pools.estimate.belief.evidence import Second
from sluice.pools.policy.state import Change, Learnt

# Below this log likelihood ratio a second is no contradiction, whatever the seconds before it in its period are. Where
# a period brings many seconds, one belief serves all that it expects. So many are looked at together.
EXPECTED, AHEAD = -0.3, 10
# So long after a pool came back from beyond an edge it may still work off what it held there. From the first second
# on in which it completes about what it did before, it has recovered.
RECOVERS_MS = 12_000


def with_seconds(learnt: Learnt, parts: list[tuple[Second, bool]]) -> Learnt:
    """Takes in runs of expected seconds at once, and each other second by itself. parts: seconds, each with whether the
    pool has just grown to its size."""
    off: list[float] = []
    while parts:
        second, tried = parts[0]
        if tried:
            # The seconds set aside were of the size before, and are dropped.
            learnt = changed(learnt, evidence=learnt.evidence.with_second(second), doubt=Doubt())
            parts = parts[1:]
            continue
        kept, off = learnt.kept, off or contradictions_of(learnt.kept, parts[:AHEAD])
        run = next((at for at, off_by in enumerate(off) if off_by >= EXPECTED), len(off))
        if run and learnt.doubt == Doubt():
            learnt = changed(learnt, evidence=learnt.evidence.with_seconds(second for second, _ in parts[:run]))
        else:
            learnt, run = _believed(learnt, second, run > 0), 1
        parts, off = parts[run:], off[run:] if learnt.kept is kept else []
    return learnt


def contradictions_of(kept: CachedBelief | None, parts: list[tuple[Second, bool]]) -> list[float]:
    """How far each second contradicts the last belief, up to the first on another CPU limit or of a new size."""
    if kept is None:
        return []
    near = [second for second, _ in takewhile(lambda part: not part[1] and part[0].cores == kept.cores, parts)]
    return contradictions(kept.now, near, 1.0) if near else []


def _believed(learnt: Learnt, second: Second, expected: bool) -> Learnt:
    """Takes in one second. expected: the last belief expects it, so no new belief is needed to judge it."""
    kept = learnt.kept
    if not expected and learnt.evidence.seconds_on(second.cores) >= LEAST_S:
        kept = believed(kept, learnt.evidence, second.cores)
    verdict = believe(learnt.evidence, learnt.doubt, second, kept.now if kept else None)
    # Evidence of other versions stays, since they are still other services.
    return changed(
        learnt,
        evidence=verdict.evidence,
        doubt=verdict.doubt,
        remembered=learnt.remembered and not verdict.moved,
        kept=kept,
    )


def recovers(learnt: Learnt, change: Change | None, second: Second, start_ms: int) -> bool:
    """Whether the pool has just come back from beyond an edge, and has not completed what it did before since then.

    Worked, 29 threads that did 80 a second, back from 34: 45, 30, 12, 11, 37 and 68 a second say nothing of 29.
    """
    if learnt.kept is None or learnt.kept.now.edge is None or change is None or change.to_size >= change.from_size:
        return False
    now, beyond = learnt.kept.now, learnt.kept.now.edge.chance(np.log([change.from_size]))[0] > 0
    if not beyond or not change.at_ms <= start_ms < change.at_ms + RECOVERS_MS:
        return False
    least = now.predict(second.concurrency, second.full)[0] - DEEPER
    since = [beat for beat in learnt.beats if beat.size == change.to_size and 1_000 * beat.second >= change.at_ms]
    recovered = any(beat.good >= exp(least) * beat.length_s for beat in since)
    return second.ln_rate < least and not recovered
