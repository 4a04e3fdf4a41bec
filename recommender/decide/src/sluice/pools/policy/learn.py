"""Turns windows into evidence: cuts them into seconds and believes or doubts each."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from sluice.fast.changed import changed
from sluice.pools.estimate.belief.doubt import Doubt
from sluice.pools.estimate.belief.evidence import Evidence, Second
from sluice.pools.policy.carry import carried
from sluice.pools.policy.lateness import is_evidence
from sluice.pools.policy.need import DAY_MS, with_peaks
from sluice.pools.policy.observation import Buckets
from sluice.pools.policy.pace import newest, with_beats
from sluice.pools.policy.parts import parts_of
from sluice.pools.policy.seconds import recovers, with_seconds
from sluice.pools.policy.state import RECENT, Change, Learnt, Standing

# How many other versions are kept.
MOST_VERSIONS = 3
# More than this at once is no batch of an exporter: a decider that begins reads 80 s.
MOST_LAG_MS = 10_000


def learn(
    learnt: Learnt,
    buckets: Buckets,
    change: Change | None = None,
    slo_s: float = inf,
    of_callee: bool = False,
    horizon_ms: int = DAY_MS,
) -> Learnt:
    """Takes in the buckets after `until_ms`; older ones were taken in before. change: the last decided one. of_callee:
    the completions are limited by the pool's callees, and say nothing of the pool. horizon_ms: of peaks.

    Completions are those without errors: a request that fails fast is no throughput.

    A second of a pool that is not full, in which nearly all is late, says nothing. No size helps there, or the service
    collapsed and requests that have not ended yet are missing.
    """
    newer = buckets.start_ms > learnt.until_ms
    if not newer.any():
        return learnt
    new = buckets if newer.all() else buckets.take(newer)
    parts = parts_of(new, change)
    full = (*learnt.full, *(part.full for part in parts if part.full is not None))
    seconds = [(part.second, part) for part in parts if part.second is not None]
    evidence = [(one, part) for one, part in seconds if not of_callee and is_evidence(one, slo_s, part.in_time)]
    pending: list[tuple[Second, bool]] = []
    for one, part in evidence:
        after = carried(learnt, part, change, slo_s)
        if pending and after.evidence is not learnt.evidence:
            # The seconds before are of the wait before.
            learnt, pending = with_seconds(learnt, pending), []
            after = carried(learnt, part, change, slo_s)
        learnt = after
        if not recovers(learnt, change, one, part.start_ms):
            pending.append((one, part.tried))
    learnt = with_seconds(learnt, pending)
    done = np.flatnonzero(new.completions > 0)
    completed = int(new.start_ms[done[-1]]) if len(done) else learnt.completed_ms
    beats = with_beats(learnt.beats, new)
    return changed(
        learnt,
        full=full[-RECENT:],
        until_ms=int(new.start_ms[-1]),
        completed_ms=completed,
        beats=newest(beats),
        peaks=with_peaks(learnt.peaks, beats, int(new.start_ms[0]) // 1_000, horizon_ms),
    )


def with_lag(learnt: Learnt, before: Learnt, buckets: Buckets, now_ms: int) -> Learnt:
    """Adds how late windows are at `now_ms`, Unix time: the age of the oldest new bucket, else of the newest one.
    buckets: what `learnt` took in after `before`.

    Worked, an SDK that exports each 5 s, whose windows come a second later: 6 s when they come, and 3 s after two more.
    """
    age_ms = max(0, now_ms - learnt.until_ms)
    if learnt.until_ms != before.until_ms:
        oldest_ms = now_ms - int(buckets.start_ms[buckets.start_ms > before.until_ms][0])
        age_ms = oldest_ms if age_ms <= oldest_ms <= MOST_LAG_MS else age_ms
    return changed(learnt, lag_ms=age_ms)


def of_version(learnt: Learnt, version: str) -> Learnt:
    """Switches to another version of the service, which counts as another service; a version that comes back has its
    evidence.

    A first report of the version, after none (""), is no change.
    """
    if version in ("", learnt.version):
        return learnt
    if not learnt.version:
        return replace(learnt, version=version)
    others = [known for known in learnt.versions if known[0] not in (version, learnt.version)]
    known = dict(learnt.versions).get(version)
    return replace(
        learnt,
        version=version,
        evidence=known or Evidence(),
        doubt=Doubt(),
        remembered=known is not None,
        standing=Standing(),
        peaks=(),
        versions=(*others, (learnt.version, learnt.evidence))[-MOST_VERSIONS:],
    )
