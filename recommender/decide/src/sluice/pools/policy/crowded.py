"""A pool that was never full, and holds more requests than a size that completes more. Pure.

A pool that was never full is not shrunk (allowed.py): mostly that gains nothing. It gains where requests hinder each
other: more are in flight than the best size holds, they stay for longer than the SLO, and the best size is expected to
complete CROWDED times as much as completes now. As many as would fill the smaller pool are there already.

Spans do not always count what a pool holds. So such a pool is shrunk only where its targets report as many in use; else
the reason (reasons.py) names the sizes. After a way back from a smaller size it is not shrunk again: the guard saw
that less was in time there, and spans still show what they showed before.

Worked, an SLO of 250 ms, 64 threads: 48 in flight complete 168 a second, after 286 ms each, and 36 complete 195.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import NamedTuple

from sluice.fast.worth import LIGHT_SURE_BY
from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.observation import FULL_READINGS, Observation
from sluice.pools.policy.pace import NEWEST, Beat, pace_over, visit
from sluice.pools.policy.state import Facts, Learnt
from sluice.pools.policy.worth import Outlook

# The best size is expected to complete so many times what completes now.
CROWDED = 1.1
# The seconds at the size in force that tell.
SEEN_S = 3.0


class Crowd(NamedTuple):
    """in_flight, per_s: of an instance now; best_per_s: expected at the best size; sure_by: how surely that is more, in
    standard deviations of ln X."""

    in_flight: float
    per_s: float
    best_per_s: float
    sure_by: float


def crowd(beats: tuple[Beat, ...], belief: Posterior, current: int, outlook: Outlook, slo_s: float) -> Crowd | None:
    """What the newest seconds at the size in force show; None where no smaller size is expected to complete more."""
    now = pace_over(visit(beats, current)[-NEWEST:])
    if now is None or now.seconds < SEEN_S or now.stay_s < slo_s or now.per_s <= 0 or now.in_flight <= outlook.upper:
        return None
    mean, variance = belief.predict(float(outlook.best), full=True)
    if exp(mean) < CROWDED * now.per_s:
        return None
    return Crowd(now.in_flight, now.per_s, exp(mean), (mean - log(now.per_s)) / sqrt(variance + 1e-12))


def may_shrink(facts: Facts, learnt: Learnt, observation: Observation, current: int, outlook: Outlook) -> bool:
    """Whether a pool that was never full may be shrunk towards the best size all the same."""
    occupancy, change = observation.occupancy, facts.change
    if occupancy is None or occupancy.coarse or occupancy.readings < FULL_READINGS or learnt.kept is None:
        return False
    if change is not None and change.basis is Basis.REVERT and change.from_size < change.to_size == current:
        return False
    shows = crowd(learnt.beats, learnt.kept.now, current, outlook, observation.slo_s)
    return shows is not None and shows.sure_by >= LIGHT_SURE_BY and occupancy.busy > outlook.upper
