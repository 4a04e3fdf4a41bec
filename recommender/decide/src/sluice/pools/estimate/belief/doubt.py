"""Decides whether the newest second contradicts the belief. Evidence of a service that changed must not mix with older
evidence.

A CUSUM of the log likelihood ratio of "it has moved" (normal, 0.7 wide beyond the prediction) against "it is as
predicted" (Page 1954), at most 5 a second:

    above 2   the second is set aside, and the size stays, for at most 5 seconds
    above 8   all evidence but the seconds set aside is forgotten
    at 0      the seconds set aside become evidence after all

A size far from those that were in force is no contradiction whatever it shows: half of the distance in ln n, less the
0.06 that are near, is added to the prediction's standard deviation. Worked: the first second at 60 where there is
evidence at 30: ln 2 is 0.69, so 32 % off is expected; the second one is near its own level, and is judged by that.

A full pool is no contradiction, however little it completes, if it is larger than all that stood for 5 s, and than the
concurrency for as long of one that was not full: it may be beyond an edge. Where the largest pool that stood falls,
only that is forgotten: a smaller size shows whether the service changed. Where a size that fell completes as much as
the smaller ones again, only the fall is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, log

import numpy as np

from sluice.fast.belief import contradicted
from sluice.pools.estimate.belief.edge import HALF_STEP, NO_EDGE, STANDS
from sluice.pools.estimate.belief.evidence import TAU_PARTIAL, TAU_SATURATED, Evidence, Level, Second
from sluice.pools.estimate.belief.family import LN_MOST
from sluice.pools.estimate.belief.posterior import Posterior

SET_ASIDE, FORGET, MOST_A_SECOND = 2.0, 8.0, 5.0
JUMP = 0.7
PER_LN_AWAY, NEAR = 0.5, 0.06
# The most seconds that may be set aside: then either the belief or they are dropped.
LONGEST_S = 5.0
# Seconds of a saturated pool at a size after which the size stands.
STOOD_S = 5.0
# Seconds of evidence on this CPU limit; with less there is no belief to contradict.
LEAST_S = 4.0


@dataclass(frozen=True)
class Doubt:
    """score: the CUSUM; aside: the seconds set aside."""

    score: float = 0.0
    aside: tuple[Second, ...] = ()


@dataclass(frozen=True)
class DoubtVerdict:
    """The result for a second. moved: the service changed, and the evidence begins with that change."""

    evidence: Evidence
    doubt: Doubt
    moved: bool = False


def believe(
    evidence: Evidence, doubt: Doubt, new: Second, now: Posterior | None, dispersion: float = 1.0
) -> DoubtVerdict:
    """Takes in a second. `now`: the belief without `new`, on its CPU limit; None suffices with under 4 s
    of evidence."""
    if now is None or evidence.seconds_on(new.cores) < LEAST_S:
        return DoubtVerdict(evidence.with_second(new), Doubt())
    against = contradiction(now, new, dispersion)
    if against > 0 and _untried(evidence, now, new):
        against = 0.0
    score = max(0.0, doubt.score + against)
    aside = (*doubt.aside, new)
    longest = sum(second.seconds for second in aside) > LONGEST_S
    if score > SET_ASIDE and longest:
        score = max(score, _together(now, aside, dispersion))
    if score > FORGET:
        full = tuple(second for second in aside if second.full)
        alike = bool(full) and all(second.cores == new.cores for second in full)
        kept = (_smaller(evidence, now, full) or _standing(evidence, now, full)) if alike else None
        if kept is not None:
            return DoubtVerdict(kept.with_seconds(full), Doubt())
        return DoubtVerdict(Evidence().with_seconds(aside), Doubt(), moved=True)
    if score > SET_ASIDE and not longest:
        return DoubtVerdict(evidence, Doubt(score, aside))
    return DoubtVerdict(evidence.with_seconds(aside), Doubt(0.0 if score > SET_ASIDE else score))


def _together(now: Posterior, aside: tuple[Second, ...], dispersion: float) -> float:
    """The log likelihood ratio of the seconds set aside as one, 0 where they are of several kinds: all moved by the
    same, where they moved.

    Worked, predicted 260 a second within 1.1 %: 300 in one second is 14 % off and gives 0.46, in each of five 9.8.
    """
    first, seconds = aside[0], sum(second.seconds for second in aside)
    if any(
        (second.cores, second.full, second.saturated) != (first.cores, first.full, first.saturated) for second in aside
    ):
        return 0.0
    concurrency = sum(second.concurrency * second.seconds for second in aside) / seconds
    if any(abs(log(second.concurrency / concurrency)) > NEAR for second in aside):
        return 0.0
    whole = replace(
        first, concurrency=concurrency, completions=sum(second.completions for second in aside), seconds=seconds
    )
    return contradictions(now, (whole,), dispersion, most=inf)[0]


def _untried(evidence: Evidence, now: Posterior, new: Second) -> bool:
    """Whether the second is of a full pool larger than all that stood for some seconds, and completes less than
    expected."""
    if not new.full:
        return False
    ln_n = log(new.concurrency)
    stood = [ln for ln, level in _saturated(evidence, new.cores) if level.seconds >= STOOD_S]
    # The concurrency of a pool that was not full counts too.
    stood += [ln for ln, level in _of(evidence, new.cores) if not level.full and level.seconds >= STOOD_S]
    fell = now.edge is not None and ln_n >= now.edge.above
    if not fell and ln_n <= max(stood, default=0.0) + NEAR:
        return False
    return new.ln_rate < now.predict(new.concurrency, full=True)[0]


def _smaller(evidence: Evidence, now: Posterior, aside: tuple[Second, ...]) -> Evidence | None:
    """The evidence below a size that fell, where that is the largest that stood and a smaller one completed more than
    it does now; None otherwise. aside: those set aside of a full pool on one CPU limit, at least one. The second in
    which it filled is none of them, and says nothing: fewer completed than arrived."""
    cores, least = aside[-1].cores, log(min(second.concurrency for second in aside)) - NEAR
    above = inf if now.edge is None else now.edge.above - HALF_STEP
    stood = [(ln_n, level) for ln_n, level in _saturated(evidence, cores) if ln_n < above]
    most = log(max(second.concurrency for second in aside)) + NEAR
    best = max((level.completions / level.seconds for ln_n, level in stood if ln_n < least), default=0.0)
    if not stood or max(ln_n for ln_n, _ in stood) > most:
        return None
    if best <= sum(second.completions for second in aside) / sum(second.seconds for second in aside):
        return None
    fell = [
        level
        for level in evidence.levels
        if level.full and level.cores == cores and least <= log(level.in_flight_s / level.seconds) < above
    ]
    return Evidence(tuple(level for level in evidence.levels if level not in fell))


def _standing(evidence: Evidence, now: Posterior, aside: tuple[Second, ...]) -> Evidence | None:
    """The evidence without that of a size that fell, where it completes about what smaller sizes do, or more: the fall
    was a passing disturbance. None otherwise. aside: as above.

    Worked: 27 completes 80 a second, and 29 did 8 and 23. Now 29 does 86 and 83: the 8 and 23 are forgotten.
    """
    if now.edge is None:
        return None
    least, most = now.edge.above - HALF_STEP, log(max(second.concurrency for second in aside)) + NEAR
    levels = _saturated(evidence, aside[-1].cores)
    best = max((log(level.completions / level.seconds) for ln_n, level in levels if ln_n < least), default=inf)
    if any(log(second.concurrency) < least or second.ln_rate < best - STANDS for second in aside):
        return None
    passing = [level for ln_n, level in levels if least <= ln_n <= most]
    return Evidence(tuple(level for level in evidence.levels if level not in passing))


def _saturated(evidence: Evidence, cores: float) -> list[tuple[float, Level]]:
    return [(ln_n, level) for ln_n, level in _of(evidence, cores) if level.saturated]


def _of(evidence: Evidence, cores: float) -> list[tuple[float, Level]]:
    """The levels on a CPU limit, with their ln n."""
    of_cores = [level for level in evidence.levels if level.cores == cores and level.in_flight_s > 0]
    return [(log(level.in_flight_s / level.seconds), level) for level in of_cores]


def contradiction(now: Posterior, new: Second, dispersion: float) -> float:
    """The log likelihood ratio, above 0 when "it has moved" is likelier.

    Worked, predicted within 2 %: 1 % off gives -3.4, 8 % off 4.4, 20 % off more than 5, of which 5 count.
    """
    return contradictions(now, (new,), dispersion)[0]


def contradictions(
    now: Posterior, new: Sequence[Second], dispersion: float, most: float = MOST_A_SECOND
) -> list[float]:
    """The log likelihood ratio of each second, by the same belief; `most` at most."""
    by: list[float] = contradicted(
        *now.known,
        np.array([second.numbers for second in new], dtype=np.float64),
        NO_EDGE if now.edge is None else now.edge.numbers,
        LN_MOST,
        dispersion,
        (TAU_SATURATED, TAU_PARTIAL),
        (PER_LN_AWAY, NEAR),
        (JUMP, most),
    ).tolist()
    return by
