"""Turns windows into evidence: cuts them into seconds and believes or doubts each."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from math import exp, inf, isnan, log, nan
from typing import NamedTuple

import numpy as np

from sluice.fast.changed import changed
from sluice.pools.estimate.belief.cache import CachedBelief, believed
from sluice.pools.estimate.belief.doubt import LEAST_S, Doubt, believe, contradictions
from sluice.pools.estimate.belief.edge import DEEPER
from sluice.pools.estimate.belief.evidence import Evidence, Second, runs
from sluice.pools.estimate.belief.family import Floats
from sluice.pools.policy.need import DAY_MS, with_peaks
from sluice.pools.policy.observation import Buckets
from sluice.pools.policy.pace import NEWEST, newest, with_beats
from sluice.pools.policy.state import RECENT, Change, Learnt, Standing
from sluice.pools.policy.waits import Stay, moved

# Seconds so soon after a pool has grown belong to the new size, and do not contradict those of other sizes. Where a
# service falls off an edge they would otherwise look like another service, and the evidence against that size would be
# forgotten.
TRIED_MS = 6_000
# So long after a pool came back from beyond an edge it may still work off what it held there. From the first second
# on in which it completes about what it did before, it has recovered.
RECOVERS_MS = 12_000
# A wait that changes so soon after the size did may be an effect of that.
OURS_MS = 12_000
# An own time within this factor is the same one, and a throughput within that factor; in ln.
SAME, ALIKE = 0.1, 0.15
# Below this log likelihood ratio a second is no contradiction, whatever the seconds before it in its period are. Where
# a period brings many seconds, one belief serves all that it expects. So many are looked at together.
EXPECTED, AHEAD = -0.3, 10
# When requests take so many SLOs on average, 9 in 10 are late, with times that are 0.5 wide in ln.
LATE = 1.9
# From this part of the completions on that windows show in time, they are not late.
IN_TIME = 0.5
# Where requests take this part of an SLO on average, their response times decide how many are in time. A pool is judged
# from half of it on: one step doubles its size, and with it the stay where a full pool completes no more.
SLOW = 0.5
JUDGED = 0.5 * SLOW
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
    parts = _seconds(new, change)
    full = (*learnt.full, *(part.full for part in parts if part.full is not None))
    seconds = [(part.second, part) for part in parts if part.second is not None]
    says = [(one, part) for one, part in seconds if not of_callee and _says(one, slo_s, part.in_time)]
    pending: list[tuple[Second, bool]] = []
    for one, part in says:
        after = _carried(learnt, part, change, slo_s)
        if pending and after.evidence is not learnt.evidence:
            # The seconds before are of the wait before.
            learnt, pending = with_seconds(learnt, pending), []
            after = _carried(learnt, part, change, slo_s)
        learnt = after
        if not _recovers(learnt, change, one, part.start_ms):
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


class _Part(NamedTuple):
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


def _seconds(new: Buckets, change: Change | None) -> list[_Part]:
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
        parts.append(_Part(start_ms, full, run.second, _tried(change, size, start_ms), wait_s, in_time))
    return parts


def _carried(learnt: Learnt, part: _Part, change: Change | None, slo_s: float) -> Learnt:
    """Carries the evidence to the time that requests wait for callees now (waits.py), where that contradicts it. Where
    they wait for longer than the SLO, no size helps."""
    second = part.second
    if second is None or isnan(part.wait_s) or part.wait_s >= slo_s:
        return learnt
    own_s = second.concurrency * second.seconds / second.completions - part.wait_s
    if own_s <= 0:
        return learnt  # calls in parallel, or of other work than the pool's requests
    ours = 0
    if change is not None and change.at_ms <= part.start_ms < change.at_ms + OURS_MS:
        ours = 1 if change.to_size > change.from_size else -1
    waits, by_s = moved(learnt.waits, Stay(part.wait_s, own_s, second.completions, second.seconds, ours))
    if (
        by_s == 0.0
        or not _same_own(learnt, second, own_s)
        or max(_off(learnt.kept, [(second, False)]), default=0.0) <= 0
    ):
        return changed(learnt, waits=waits)
    return changed(
        learnt,
        waits=waits._replace(carried_ms=part.start_ms),
        evidence=learnt.evidence.carried(by_s),
        doubt=replace(learnt.doubt, aside=tuple(second.carried(by_s) for second in learnt.doubt.aside)),
        versions=tuple((version, evidence.carried(by_s)) for version, evidence in learnt.versions),
        kept=None,
    )


def _same_own(learnt: Learnt, second: Second, own_s: float) -> bool:
    """Whether requests take as long by themselves as in the level of the nearest throughput, where the CPU is as busy.
    At another throughput, they may take less time than at a higher one, and more than at a lower one."""
    level = learnt.evidence.nearest(second)
    if level is None or learnt.waits is None:
        return False
    known_s = level.in_flight_s / level.completions - learnt.waits.evidence_s
    if known_s <= 0:
        return False
    off, busier = log(own_s / known_s), second.ln_rate - log(level.completions / level.seconds)
    return (off <= SAME or busier > ALIKE) and (off >= -SAME or busier < -ALIKE)


def _wait_s(new: Buckets, completions: Floats, part: slice) -> float:
    """The mean time that a request waits for callees, in the buckets where that is known; NaN where it is known in less
    than a third of them."""
    known = ~np.isnan(new.waiting[part])
    done = float(completions[part][known].sum())
    if done <= 0 or 3 * known.sum() < len(known):
        return nan
    return float(new.waiting[part][known].sum()) * new.bucket_s / done


def _says(second: Second, slo_s: float, in_time: float) -> bool:
    return second.full or not late(second.concurrency * second.seconds, second.completions, slo_s, in_time)


def late(in_flight_s: float, completions: float, slo_s: float, in_time: float = nan) -> bool:
    """Whether nearly all that completes is late, by Little's law, or nothing completes while something is in flight.

    in_flight_s: sum of n dt. in_time: the part that windows show in time, NaN where they do not; half of it in time is
    not late, whatever the mean is. Worked, an SLO of 1 s: of 4 in flight 2 a second complete, after 2 s each, and are
    late; 3 a second complete after 1.3 s. Where 19 of 20 take 0.1 s and one takes 38 s, the mean is 2 s as well, and 95
    % are in time.
    """
    return in_flight_s > 0 and in_flight_s >= LATE * slo_s * completions and not in_time >= IN_TIME


def slow(learnt: Learnt, slo_s: float) -> bool:
    """Whether requests stay so long, at a size in the evidence or in the newest beats, that their response times matter
    to the choice. Such a pool is judged: windows then show what is in time, and how many call."""
    if learnt.evidence.longest_stay_s() >= JUDGED * slo_s:
        return True
    beats = learnt.beats[-NEWEST:]
    in_flight_s = sum([beat.in_flight_s for beat in beats])
    return in_flight_s > 0 and in_flight_s >= JUDGED * slo_s * sum([beat.good for beat in beats])


def _recovers(learnt: Learnt, change: Change | None, second: Second, start_ms: int) -> bool:
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


def _tried(change: Change | None, size: float, start_ms: int) -> bool:
    if change is None or size != change.to_size or change.to_size <= change.from_size:
        return False
    return _just(change, start_ms)


def _just(change: Change, start_ms: int) -> bool:
    return change.at_ms <= start_ms < change.at_ms + TRIED_MS


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
        kept, off = learnt.kept, off or _off(learnt.kept, parts[:AHEAD])
        run = next((at for at, off_by in enumerate(off) if off_by >= EXPECTED), len(off))
        if run and learnt.doubt == Doubt():
            learnt = changed(learnt, evidence=learnt.evidence.with_seconds(second for second, _ in parts[:run]))
        else:
            learnt, run = _believed(learnt, second, run > 0), 1
        parts, off = parts[run:], off[run:] if learnt.kept is kept else []
    return learnt


def _off(kept: CachedBelief | None, parts: list[tuple[Second, bool]]) -> list[float]:
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
