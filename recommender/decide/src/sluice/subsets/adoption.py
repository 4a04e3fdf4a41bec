"""Whether a caller follows its subset: the calls that it made beside its plan and beside even routing.

Let p be the shares of the plan, q those of even routing over all live containers of the called service, and s the
observed ones, of n calls. The distance of Pearson's chi-square from the plan, less what Poisson counts bring,
relative to that of even routing, is

    r = (sum (s - p)² / q - sum s / (q n)) / (sum (q - p)² / q)

0 for a caller that follows, 1 for one that calls all containers alike, and (1 - a)² for one that follows with a part a
of its calls. A caller follows where r is below 1/4, so where its calls are nearer to the plan than half of the way to
even routing, by SURE standard errors. It does not follow where r is above 1/4 by as many. Else nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import sqrt

import numpy as np

from sluice.subsets.fleet import Floats

#: The ratio at which a caller is half of the way from its plan to even routing.
HALF = 0.25
#: A verdict needs this many standard errors, as in `trial`: of 1,000 callers half of the way, 1 gets a wrong one.
SURE = 3.0
#: Below it counts are too far from normal for a standard error.
FEWEST_CALLS = 30
#: The chi-square distance of a plan from even routing below which the plan shows nothing: weights that differ by 3 %
#: (root mean square), which `publication` treats as equal.
EVEN = 1e-3
#: Observed shares replace those of before where their chi-square distance is larger by this: 22 % of the calls to each
#: container (root mean square).
MOVED = 0.05


class AdoptionVerdict(Enum):
    FOLLOWS = "FOLLOWS"
    NOT_FOLLOWING = "NOT_FOLLOWING"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True)
class Distance:
    """ratio: r, not negative on average. error: its standard error."""

    ratio: float
    error: float


def distance(plan: Floats, counts: Floats) -> Distance | None:
    """The distance of counts from a plan; None where there are too few calls, or where the plan is even.

    plan: (n,) shares that add up to 1; counts: (n,) calls, over all live containers of the called service.

    Worked, plan 1/2, 1/2, 0, 0: counts 52, 44, 2, 2 have r = (0.0192 - 0.04) / 1 = -0.02, standard error 0.05; 25 each
    have r = (1 - 0.04) / 1 = 0.96, standard error 0.20.
    """
    calls, even = float(counts.sum()), 1 / len(plan)
    scale = float(((even - plan) ** 2).sum()) / even
    if calls < FEWEST_CALLS or scale < EVEN:
        return None
    shares = counts / calls
    off = (shares - plan) ** 2
    # Delta method: Var(s) = s / n, and Var((s - E s)²) = 2 (s / n)².
    variance = float((4 * off * shares / calls + 2 * (shares / calls) ** 2).sum()) / even**2
    return Distance((float(off.sum()) - 1 / calls) / even / scale, sqrt(variance) / scale)


def verdict(plan: Floats, counts: Floats) -> AdoptionVerdict:
    """As of `distance`. Worked: 52, 44, 2, 2 follow (-0.02 + 3 x 0.05 < 0.25), 25 each do not (0.96 - 3 x 0.20 > 0.25),
    and 38, 38, 12, 12 of 100 are unknown (0.19, standard error 0.10)."""
    found = distance(plan, counts)
    if found is None:
        return AdoptionVerdict.UNKNOWN
    if found.ratio + SURE * found.error < HALF:
        return AdoptionVerdict.FOLLOWS
    return AdoptionVerdict.NOT_FOLLOWING if found.ratio - SURE * found.error > HALF else AdoptionVerdict.UNKNOWN


def differs(counts: Floats, shares: Floats) -> bool:
    """Whether counts are other than Poisson counts of `shares`, (n,), by SURE standard errors and by MOVED. Worked: 100
    calls to 4 containers differ from even from a chi-square distance of (3 + 3 x sqrt(6)) / 100 + 0.05 = 0.15 on."""
    calls, free = float(counts.sum()), len(counts) - 1
    if calls < FEWEST_CALLS:
        return False
    expected = np.maximum(shares, MOVED / len(shares))
    off = float(((counts / calls - shares) ** 2 / expected).sum())
    return off > (free + SURE * sqrt(2 * free)) / calls + MOVED
