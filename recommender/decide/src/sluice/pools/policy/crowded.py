"""A pool that was never full, and holds more requests than a size that completes more. Pure.

A pool that was never full is not shrunk (allowed.py): mostly that gains nothing. It gains where requests hinder each
other: more are in flight than the best size holds, they stay for longer than the SLO, and the best size is expected to
complete CROWDED times as much as completes now. As many as would fill the smaller pool are there already.

Spans do not always count what a pool holds. So such a pool is shrunk only where its targets report as many in use; else
the reason (reasons.py) names the sizes.

A callee that became slow, and has no spans, shows the same: many in flight, and less completes than few did before.
There a smaller size completes less. So the first smaller size that requests fill is a trial: no further one is chosen
before the guard has seen 3 s of it, and it goes back (NO_GAIN, trial.py) unless as much completes as before. After a
way back from a smaller size the pool is not shrunk so again.

Worked, an SLO of 250 ms, 64 threads: 48 in flight complete 168 a second, after 286 ms each, and 36 complete 195.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import NamedTuple

from sluice.fast.worth import LIGHT_SURE_BY
from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.allowed import OF_SIZE
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.observation import FULL_READINGS, Observation
from sluice.pools.policy.pace import Beat, pace_over, visit
from sluice.pools.policy.state import Facts, Learnt
from sluice.pools.policy.worth import Outlook

# The best size is expected to complete so many times what completes now.
CROWDED = 1.1
# The newest beats at the size in force that tell: two stretches of five. A pause of some seconds is none.
TELLING, LAST = 10, 2


class Crowd(NamedTuple):
    """in_flight, per_s: of an instance now; best_per_s: expected at the best size; sure_by: how surely that is more, in
    standard deviations of ln X."""

    in_flight: float
    per_s: float
    best_per_s: float
    sure_by: float


def crowd(beats: tuple[Beat, ...], belief: Posterior, current: int, outlook: Outlook, slo_s: float) -> Crowd | None:
    """What the newest seconds at the size in force show; None where no smaller size is expected to complete more."""
    seen = visit(beats, current)[-TELLING:]
    if len(seen) < TELLING:
        return None
    for stretch in (seen[: TELLING // 2], seen[TELLING // 2 :]):
        of = pace_over(stretch)
        if of is None or of.stay_s < slo_s or of.in_flight <= outlook.upper:
            return None
    now = pace_over(seen)
    mean, variance = belief.predict(float(outlook.best), full=True)
    if now is None or now.per_s <= 0 or exp(mean) < CROWDED * now.per_s:
        return None
    return Crowd(now.in_flight, now.per_s, exp(mean), (mean - log(now.per_s)) / sqrt(variance + 1e-12))


def on_trial(facts: Facts, learnt: Learnt) -> bool:
    """Whether the last change shrank a pool that was not full, to fewer than were in flight. In the last two seconds
    before it was not full either: a pool that collapses is shrunk after as many. REVERT goes back, and PROBE knows no
    better."""
    change = facts.change
    if change is None or change.to_size >= change.from_size or change.basis in (Basis.REVERT, Basis.PROBE):
        return False
    seen = visit(learnt.beats, change.from_size)[-TELLING:]
    if len(seen) < TELLING:
        return False
    before = [pace.in_flight for pace in (pace_over(seen), pace_over(seen[-LAST:])) if pace is not None]
    return change.to_size < before[0] and max(before) < OF_SIZE * change.from_size


def may_shrink(facts: Facts, learnt: Learnt, observation: Observation, current: int, outlook: Outlook) -> bool:
    """Whether a pool that was never full may be shrunk towards the best size all the same."""
    occupancy, change = observation.occupancy, facts.change
    if occupancy is None or occupancy.coarse or occupancy.readings < FULL_READINGS or learnt.kept is None:
        return False
    if change is not None and change.basis is Basis.REVERT and change.from_size < change.to_size == current:
        return False
    shows = crowd(learnt.beats, learnt.kept.now, current, outlook, observation.slo_s)
    return shows is not None and shows.sure_by >= LIGHT_SURE_BY and occupancy.busy > outlook.upper
