"""Whether a smaller size would complete fewer in time than callers' spans show at the size in force. Pure.

The belief knows how long requests stay in the pool, n / X(n), and assumes how that spreads. It does not know how long
they wait for a place. Where the pool holds two thirds of those that call, callers' spans show both: g requests a second
complete in time. At a smaller size n the N that call now share X(n), so each waits and stays for N / X(n) on average
(Little), and

    X(n) Phi((ln SLO - ln(N / X(n))) / 0.5)

complete in time. A size of which that is less than g is not chosen. Where some requests take much longer than the
others, the short ones pass the long ones in a large pool, and wait for them before a small one.

In a pool that was never full nobody waits for a place: those in flight are all that call. Where each calls again at
once, they stay as many, as above. Where they come as often as now, a size that completes more leaves nobody waiting:
as many complete as now, after n / X(n). Nobody knows which, so the mean of both counts.

The SLO may be wrong. So a size that completes less than half of what the smaller one is expected to does not stay for
it: the guard calls as much a collapse (`harm.py`).

Worked, an SLO of 50 ms: 100 threads complete 800 a second for 104 callers, 0.88 of them in time, 704. 50 threads would
complete 1,010: 103 ms each, 0.07 in time, 75. At 400 ms all 1,010 are in time, and 100 threads are left.
"""

from __future__ import annotations

from math import exp, log

from sluice.fast.worth import LATENCY_SPREAD, ln_phi
from sluice.pools.estimate.belief.posterior import Posterior
from sluice.pools.policy.pace import NEWEST, Beat, timely_over, visit
from sluice.pools.policy.trial import COLLAPSED_TO, HOLDS


def more_in_time(
    beats: tuple[Beat, ...], now: Posterior, current: int, size: int, slo_s: float, crowded: bool = False
) -> str:
    """Why the size in force is kept and a smaller one is not chosen, "" where it may be. beats: of the newest half
    minute. crowded: the pool was never full (crowded.py)."""
    does = timely_over(visit(beats, current)[-NEWEST:]) if size < current else None
    if does is None or not size < does.callers <= HOLDS * does.in_flight:
        return ""
    would_per_s = exp(now.predict(size, True)[0])
    in_time_per_s = would_per_s * _part(slo_s * would_per_s / does.callers)
    if crowded:
        alike_per_s = min(does.per_s, would_per_s)
        in_time_per_s = (in_time_per_s + alike_per_s * _part(slo_s * would_per_s / size)) / 2
    if does.per_s < COLLAPSED_TO * would_per_s or does.in_time_per_s <= in_time_per_s:
        return ""
    return f"{does.in_time_per_s:.3g}/s in time at {current}, {in_time_per_s:.3g}/s expected at {size}"


def _part(slo_by_stay: float) -> float:
    """The part that is in time where the SLO is so many times the mean stay."""
    return exp(ln_phi(log(slo_by_stay) / LATENCY_SPREAD))
