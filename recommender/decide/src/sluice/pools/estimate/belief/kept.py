"""The belief of a moment ago, from which that of now is made at a tenth of the cost.

Rows are rounded to a part of their standard deviation before they are looked at, so most seconds change none, and the
belief is that of before. (Rounded, and not compared with what they were: a belief depends on the evidence alone, and is
the same after a restart.)

Of 2,376 shapes some 100 have weight, and the same ones a second later. So most other seconds look only at those that
had 1e-5 of the likeliest one's weight when all were looked at, which is a tenth of what is negligible. All are looked
at again when the likeliest shape has become ten times less likely than then, when a level of then is forgotten, when
the cores are others, and after 20 times.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from sluice.model.changed import changed
from sluice.pools.estimate.belief.compiled_levels import rounded_rows
from sluice.pools.estimate.belief.edge import split
from sluice.pools.estimate.belief.evidence import Evidence, Rows
from sluice.pools.estimate.belief.family import Floats, Ints, family
from sluice.pools.estimate.belief.posterior import Posterior, posterior

TIMES = 20
WORSE = log(10.0)
# Steps to which rows are rounded: ln n, and ln of the rate of a thread where they are known within 4 % and where not,
# in standard deviations rounded to a power of 2; the standard deviation, in ln.
LN_N, RATE, ROUGH_RATE, DEVIATION = 0.5, 0.25, 0.6, 0.2
ROUGH = 0.04


@dataclass(frozen=True)
class Kept:
    """now: the belief by `evidence` on `cores`, which are `rows`, rounded. All shapes were looked at `times` ago:
    `likely` and `spreads` are those to look at, `top` was the likeliest one's ln weight then, and `whole` the
    evidence, as `Evidence.table` has it."""

    evidence: Evidence
    cores: float
    rows: Rows
    now: Posterior
    likely: Ints
    spreads: tuple[float, ...]
    top: float
    whole: Floats
    times: int = 0


def believed(last: Kept | None, evidence: Evidence, cores: float) -> Kept:
    """The belief by `evidence` on `cores`; `last` saves work, and changes nothing that counts."""
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
    return Kept(evidence, cores, rows, now, now.likely, now.spreads, now.top, whole=evidence.table)


def rounded(rows: Rows) -> Rows:
    """Worked: known within 0.9 %, which is 2^-7 (0.8 %) rounded, ln n and ln rate move by at most 0.2 and 0.1 %."""
    steps = (LN_N, RATE, ROUGH_RATE, DEVIATION)
    ln_n, ln_rate, variance = rounded_rows(rows.ln_n, rows.ln_rate, rows.variance, steps, ROUGH)
    return Rows(ln_n, ln_rate, variance, rows.full, rows.scale)
