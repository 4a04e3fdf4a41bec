"""A pool that was never full, and holds more requests than a size that completes more. Pure.

A pool that was never full is not shrunk (allowed.py): mostly that gains nothing. It gains where requests hinder each
other: more are in flight than the best size holds, they stay for longer than the SLO, and the best size is expected to
complete CROWDED times as much as completes now. As many as would fill the smaller pool are there already.

Spans do not always count what a pool holds. So such a pool is shrunk only where its targets report as many in use; else
the reason (reasons.py) names the sizes.

A callee that became slow looks alike: many in flight, and less completes than few did before. A smaller size would
complete less there. The newest half minute tells them apart. Where requests hinder each other, less completes in the
seconds with more in flight; where they wait for a callee, n / X is constant, and more does. So the slope of ln X over
ln n in those seconds has to be below 0, by two standard errors. Beyond that the first smaller size is one that requests
fill, and a trial: no further one is chosen before the guard has seen 3 s of it, and it goes back (NO_GAIN, trial.py)
unless as much completes as before. After a way back from a smaller size the pool is not shrunk so again.

Worked, an SLO of 250 ms, 64 threads: 48 in flight complete 168 a second, after 286 ms each, and 36 complete 195.
"""

from __future__ import annotations

from math import ceil, exp, log, sqrt
from typing import NamedTuple

import numpy as np

from sluice.fast.worth import LIGHT_SURE_BY
from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.allowed import OF_SIZE
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.observation import FULL_READINGS, Observation
from sluice.pools.policy.pace import Beat, pace_over, visit
from sluice.pools.policy.reach import LARGEST_STEP
from sluice.pools.policy.state import Facts, Learnt
from sluice.pools.policy.worth import Choice, Outlook

# The best size is expected to complete so many times what completes now, and so many times what it holds is in flight.
CROWDED, MORE = 1.1, 1.25
# The beats at the size in force that tell.
TELLING = 15
# Standard errors by which the slope is below 0.
FALLS_BY = 2.0


class Crowd(NamedTuple):
    """in_flight, per_s: of an instance now; best_per_s: expected at the best size; sure_by: how surely that is more, in
    standard deviations of ln X."""

    in_flight: float
    per_s: float
    best_per_s: float
    sure_by: float


def crowd(beats: tuple[Beat, ...], belief: Posterior, current: int, outlook: Outlook, slo_s: float) -> Crowd | None:
    """What the seconds at the size in force show, since the last one that was not crowded; None where no smaller size
    is expected to complete more."""
    seen = _since(visit(beats, current), MORE * outlook.upper)
    now = pace_over(seen)
    if now is None or len(seen) < TELLING or now.per_s <= 0 or now.stay_s < slo_s or not falls(seen, FALLS_BY):
        return None
    mean, variance = belief.predict(float(outlook.best), full=True)
    if exp(mean) < CROWDED * now.per_s:
        return None
    return Crowd(now.in_flight, now.per_s, exp(mean), (mean - log(now.per_s)) / sqrt(variance + 1e-12))


def _since(beats: tuple[Beat, ...], in_flight: float) -> tuple[Beat, ...]:
    """The beats after the last one with fewer in flight."""
    last = max((at for at, beat in enumerate(beats) if beat.in_flight_s < in_flight * beat.length_s), default=-1)
    return beats[last + 1 :]


def falls(beats: tuple[Beat, ...], by: float) -> bool:
    """Whether less completes in the seconds with more in flight: least squares of ln X over ln n, the seconds with a
    completion. by: standard errors of the slope.

    Worked: 38, 40 and 42 in flight complete 165, 156 and 152 a second: a slope of -0.82, give or take 0.13.
    """
    of = [(beat.in_flight_s / beat.length_s, beat.good / beat.length_s) for beat in beats if beat.good > 0]
    if len(of) < 3:
        return False
    n, rate = np.log(np.array(of).T)
    n, rate = n - n.mean(), rate - rate.mean()
    spread = float(n @ n)
    if spread <= 0:
        return False
    slope = float(n @ rate) / spread
    error = sqrt(float(np.square(rate - slope * n).sum()) / (len(of) - 2) / spread)
    return slope < -by * error


def on_trial(facts: Facts, learnt: Learnt) -> bool:
    """Whether the last change shrank a crowded pool. The oldest beats of before may be forgotten, so that the slope
    only has to be below 0. REVERT goes back, and PROBE knows no better."""
    change = facts.change
    if change is None or change.to_size >= change.from_size or change.basis in (Basis.REVERT, Basis.PROBE):
        return False
    seen = _since(visit(learnt.beats, change.from_size), MORE * change.to_size)
    if len(seen) < TELLING or not falls(seen, 0.0):
        return False
    before = pace_over(seen)
    return before is not None and before.in_flight < OF_SIZE * change.from_size


def crowded_choice(
    facts: Facts, learnt: Learnt, observation: Observation, outlook: Outlook, least: int, now_ms: int
) -> Choice | None:
    """The size for a crowded pool: half of what is in flight, or the largest of the best ones where that is more; None
    where the pool is not to be shrunk. least: the smallest legal size.

    Worked, 48 in flight, 30 to 32 are best: 32, from 64 or from 128. 20 to 22 are best: 24.
    """
    occupancy, change, current = observation.occupancy, facts.change, observation.size
    if occupancy is None or occupancy.coarse or occupancy.readings < FULL_READINGS or learnt.kept is None:
        return None
    goes_back = change is not None and change.basis is Basis.REVERT and change.from_size < change.to_size == current
    if current is None or goes_back:
        return None
    shows = crowd(learnt.beats, learnt.kept.now, current, outlook, observation.slo_s)
    if shows is None or shows.sure_by < LIGHT_SURE_BY:
        return None
    size = max(outlook.upper, ceil(shows.in_flight / LARGEST_STEP), least)
    if MORE * size > min(shows.in_flight, occupancy.busy) or facts.trust.refuses(size, now_ms):
        return None
    return Choice(size, log(shows.best_per_s / shows.per_s), shows.sure_by, look=False)
