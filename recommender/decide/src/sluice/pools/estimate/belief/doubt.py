"""Does the newest second contradict the belief? A service that became another one must not be mixed with what it was.

A CUSUM of the log likelihood ratio of "it has moved" (normal, 0.7 wide beyond the prediction) against "it is as
believed" (Page 1954), at most 5 a second:

    above 2   the second is set aside, and the size stays, for at most 5 seconds
    above 8   all but what was set aside is forgotten
    at 0      what was set aside is believed after all

A size far from those that were in force is no contradiction whatever it shows: half of the distance in ln n, less the
0.06 that are near, is added to the prediction's standard deviation. Worked: the first second at 60 where 30 was seen:
ln 2 is 0.69, so 32 % off is expected; the second one is near its own level, and is judged by that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.belief.compiled import nearest
from sluice.pools.estimate.belief.evidence import TAU_PARTIAL, TAU_SATURATED, Evidence, Second
from sluice.pools.estimate.belief.family import Floats
from sluice.pools.estimate.belief.posterior import Posterior

SET_ASIDE, FORGET, MOST_A_SECOND = 2.0, 8.0, 5.0
JUMP = 0.7
PER_LN_AWAY, NEAR = 0.5, 0.06
# Seconds that may lie aside: then either the belief or they have to go.
LONGEST_S = 5.0
# Of evidence on these cores: with less there is no belief that could be contradicted.
LEAST_S = 4.0


@dataclass(frozen=True)
class Doubt:
    """score: the CUSUM; aside: what waits to be believed."""

    score: float = 0.0
    aside: tuple[Second, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What became of a second. moved: the evidence is what came since the service changed, and nothing else."""

    evidence: Evidence
    doubt: Doubt
    moved: bool = False


def believe(evidence: Evidence, doubt: Doubt, new: Second, now: Posterior | None, dispersion: float = 1.0) -> Verdict:
    """`now`: the belief without `new`, on the cores that it was seen under; None will do with under 4 s of evidence."""
    if now is None or evidence.seconds_on(new.cores) < LEAST_S:
        return Verdict(evidence.with_second(new), Doubt())
    score = max(0.0, doubt.score + contradiction(now, new, dispersion))
    aside = (*doubt.aside, new)
    if score > FORGET:
        return Verdict(Evidence().with_seconds(aside), Doubt(), moved=True)
    if score > SET_ASIDE and sum(each.seconds for each in aside) <= LONGEST_S:
        return Verdict(evidence, Doubt(score, aside))
    return Verdict(evidence.with_seconds(aside), Doubt(0.0 if score > SET_ASIDE else score))


def contradiction(now: Posterior, new: Second, dispersion: float) -> float:
    """The log likelihood ratio, above 0 when "it has moved" is likelier.

    Worked, predicted within 2 %: 1 % off gives -3.4, 8 % off 4.4, 20 % off more than 5, of which 5 count.
    """
    return contradictions(now, (new,), dispersion)[0]


def contradictions(now: Posterior, new: Sequence[Second], dispersion: float) -> list[float]:
    """Of each, by the same belief."""
    in_flight, full = np.array([each.concurrency for each in new]), np.array([each.full for each in new])
    mean, variance = now.predict_each(in_flight, full)
    away = _away(now, np.log(in_flight), full)
    found = []
    for each, expected, known, apart in zip(new, mean.tolist(), variance.tolist(), away.tolist(), strict=True):
        error = TAU_SATURATED if each.saturated else TAU_PARTIAL
        known += dispersion / each.completions + error**2 + (PER_LN_AWAY * apart) ** 2
        wide, off = known + JUMP**2, each.ln_rate - expected
        found.append(min(0.5 * off**2 * (1 / known - 1 / wide) - 0.5 * log(wide / known), MOST_A_SECOND))
    return found


def _away(now: Posterior, ln_n: Floats, full: NDArray[np.bool_]) -> Floats:
    """In ln n, to the nearest row of the same kind and cores, else to any; 0 within a step. Shape (k,) each."""
    if len(now.rows) == 0:
        # Seconds with all but no completions: nothing is predicted that could be contradicted.
        return np.zeros(len(ln_n))
    return np.maximum(nearest(ln_n, full, now.rows.seen) - NEAR, 0.0)
