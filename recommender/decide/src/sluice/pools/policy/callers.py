"""How many calls an instance of a pool has in flight, those that wait for a place among them. Pure."""

from __future__ import annotations

from sluice.pools.policy.pace import NEWEST, timely_over, visit
from sluice.pools.policy.state import Learnt

# A report of the demand of a minute counts for so long, ms.
DEMAND_MS = 120_000


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
