"""Keeps the last belief, from which the present one is made at a tenth of the cost.

Rows are rounded to a part of their standard deviation before use, so most seconds change none, and the belief stays.
(They are rounded, and not compared with the rows before, so that a belief depends on the evidence alone and is the same
after a restart.)

Of 2,376 shapes about 100 have weight, and the same ones a second later. So most other seconds consider only the shapes
with 1e-5 of the likeliest one's weight in the last full pass, which is a tenth of the negligible weight. A full pass
over all shapes follows in four cases: the likeliest shape has become ten times less likely than in the last one, a
level of that one is forgotten, the cores changed, or 20 partial passes are over.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from sluice.fast.belief_levels import rounded_rows
from sluice.fast.changed import changed
from sluice.pools.estimate.belief.edge import split
from sluice.pools.estimate.belief.evidence import Evidence, LevelRows
from sluice.pools.estimate.belief.family import Floats, Ints, family
from sluice.pools.estimate.belief.posterior import Posterior, posterior

TIMES = 20
WORSE = log(10.0)
# Steps to which rows are rounded. ln n, and ln of the rate of a thread where it is known within 4 % and where it is
# not: in standard deviations rounded to a power of 2. The standard deviation: in ln.
LN_N, RATE, ROUGH_RATE, DEVIATION = 0.5, 0.25, 0.6, 0.2
ROUGH = 0.04


@dataclass(frozen=True)
class CachedBelief:
    """now: the belief by `evidence` on `cores`; `rows` are its rounded rows. `times`: partial passes since the last
    pass over all shapes. `likely` and `spreads` are those to consider, `top` was the likeliest one's ln weight in that
    pass, and `whole` the evidence then, as `Evidence.table`."""

    evidence: Evidence
    cores: float
    rows: LevelRows
    now: Posterior
    likely: Ints
    spreads: tuple[float, ...]
    top: float
    whole: Floats
    times: int = 0


def believed(last: CachedBelief | None, evidence: Evidence, cores: float) -> CachedBelief:
    """The belief by `evidence` on `cores`. `last` saves work, and changes nothing that counts."""
    if last is not None and last.cores == cores and last.evidence is evidence:
        return last
    rows = rounded(evidence.rows(cores))
    if last is not None and last.cores == cores and len(rows) > 0 and rows.same(last.rows):
        return changed(last, evidence=evidence)
    fits, edge = split(rows)
    alike = last is not None and last.cores == cores and (edge is None) == (last.now.edge is None)
    if last is not None and alike and len(rows) > 0 and last.times < TIMES and evidence.has_all(last.whole):
        now = posterior(family(), fits, cores, last.likely, last.spreads, edge)
        if now.top > last.top - WORSE:
            return changed(last, evidence=evidence, rows=rows, now=now, times=last.times + 1)
    now = posterior(family(), fits, cores, edge=edge)
    return CachedBelief(evidence, cores, rows, now, now.likely, now.spreads, now.top, whole=evidence.table)


def rounded(rows: LevelRows) -> LevelRows:
    """Rounds rows. Worked: known within 0.9 %, which is 2^-7 (0.8 %) rounded, ln n and ln rate move by at most 0.2 and
    0.1 %."""
    steps = (LN_N, RATE, ROUGH_RATE, DEVIATION)
    ln_n, ln_rate, variance = rounded_rows(rows.ln_n, rows.ln_rate, rows.variance, steps, ROUGH)
    return LevelRows(ln_n, ln_rate, variance, rows.full, rows.scale)
