"""Callers of an instance of a pool: how many calls are in flight, those that wait for a place among them; whether they
wait too long; and the larger size to try then. Pure."""

from __future__ import annotations

from math import inf

from sluice.model.demand import Demand
from sluice.pools.policy.allowed import larger_tried_s
from sluice.pools.policy.observation import Observation
from sluice.pools.policy.pace import NEWEST, timely_over, visit
from sluice.pools.policy.reach import LARGEST_STEP
from sluice.pools.policy.state import Facts, Learnt
from sluice.pools.policy.worth import Choice

# A report of the demand of a minute counts for so long, ms.
DEMAND_MS = 120_000
# Callers wait too long when less than this part of the calls is in time.
IN_TIME = 0.9
# Where less than this part is in time, larger sizes with fewer seconds of evidence are tried again.
MOSTLY_LATE, HARDLY_TRIED_S = 0.5, 10.0
# A size that was left gets no look for so long.
LOOKS_AGAIN_S = 60.0


def callers_of(learnt: Learnt, current: int, now_ms: int) -> int:
    """By the newest 5 s at the size in force where callers judge the pool, else by the newest minute of demand; 0 where
    neither shows it. Rounded down.

    Worked: 4 in flight and 6.4 that wait: 10.
    """
    timely = timely_over(visit(learnt.beats, current)[-NEWEST:])
    if timely is not None:
        return int(timely.callers)
    demand = learnt.demand
    if demand is None or demand.waiting is None or now_ms - demand.until_ms > DEMAND_MS:
        return 0
    return int(demand.in_flight + demand.waiting)


def late_demand(learnt: Learnt, now_ms: int) -> Demand | None:
    """The newest demand, where callers wait too long; None where they do not, or none reports."""
    demand = learnt.demand
    if demand is None or demand.in_time is None or now_ms - demand.until_ms > DEMAND_MS:
        return None
    return demand if demand.in_time < IN_TIME else None


def most_wait(facts: Facts, learnt: Learnt, now_ms: int) -> Demand | None:
    """The newest demand, where callers wait too long, and more of them wait than requests are in flight; else None. A
    minute with an earlier size does not count.

    Worked: of 3 all were full and 30 waited, then 7 serve everybody. The minute of both has 2.5 in flight and 15
    waiting.
    """
    demand, change = late_demand(learnt, now_ms), facts.change
    if demand is None or demand.waiting is None or (change is not None and demand.since_ms < change.at_ms):
        return None
    return demand if demand.waiting > max(1.0, demand.in_flight) else None


def hardly_tried(facts: Facts, learnt: Learnt, observation: Observation, current: int, now_ms: int) -> Choice | None:
    """A larger size with little or no evidence of a full pool: the operator's where that is larger, else twice the
    size. None where there is more evidence, or it may not be tried.

    For `LOOKS_AGAIN_S` not one that was just left, nor one beyond it. Worked: 4 connections are full, 8 wait for each
    other's rows and are left after 2 s, not full: without this rule 4 and 8 take turns.

    Then a few seconds at a larger size are no reason to stay, where most calls are late. Worked: 3 threads had 5 s just
    after the load rose, while all services were slow: 12 a second. 2 threads do 22, and 89 callers wait for them.
    """
    operator, change = facts.trust.operator, facts.change
    since_s = inf if change is None else (now_ms - change.at_ms) / 1_000
    demand = late_demand(learnt, now_ms)
    mostly_late = demand is not None and (demand.in_time or 0.0) < MOSTLY_LATE
    tried_s = larger_tried_s(learnt, current, observation.cores)
    enough_s = HARDLY_TRIED_S if mostly_late and since_s >= LOOKS_AGAIN_S else 0.0
    if tried_s > enough_s or not observation.constraints.may_look:
        return None
    size = operator if operator is not None and operator > current else LARGEST_STEP * current
    size = min(size, observation.constraints.most)
    if size <= current or facts.trust.refuses(size, now_ms):
        return None
    if change is not None and since_s < LOOKS_AGAIN_S and current < change.from_size <= size:
        return None
    return Choice(size, gain=0.0, sure_by=0.0, look=True)
