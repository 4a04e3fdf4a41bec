"""The belief of a moment ago, from which that of now is made at a tenth of the cost.

Of 2,079 shapes some 50 have weight, and the same ones a second later. So most seconds look only at those that had
1e-8 of the likeliest one's weight when all were looked at, and have to gain a factor 1e4 to be missed. All are looked
at again when the levels or the cores are others than then, where another spread of the Gaussian process was nearly as
likely, and after 20 times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.pools.estimate.belief.evidence import Evidence, Rows
from sluice.pools.estimate.belief.family import family
from sluice.pools.estimate.belief.posterior import Posterior, posterior

TIMES = 20
# In ln of how likely the rows are.
NEARLY = 2.0


@dataclass(frozen=True)
class Kept:
    """now: the belief by `evidence` on `cores`. whole: the one for which all shapes were looked at, `times` ago."""

    evidence: Evidence
    cores: float
    now: Posterior
    whole: Posterior
    times: int = 0


def believed(last: Kept | None, evidence: Evidence, cores: float) -> Kept:
    """The belief by `evidence` on `cores`; `last` saves work, and changes nothing that counts."""
    if last is not None and last.cores == cores and last.evidence is evidence:
        return last
    rows = evidence.rows(cores)
    if last is not None and last.cores == cores and last.times < TIMES and _alike(last.whole, rows):
        whole = last.whole
        now = posterior(family(), rows, cores, whole.likely, whole.spread)
        return Kept(evidence, cores, now, whole, last.times + 1)
    whole = posterior(family(), rows, cores)
    return Kept(evidence, cores, whole, whole)


def _alike(whole: Posterior, rows: Rows) -> bool:
    """The same levels; one that is newest moves to the end of the rows."""
    before = whole.rows
    if whole.ahead < NEARLY or len(before) != len(rows) or len(rows) == 0:
        return False
    order, was = np.lexsort((rows.ln_n, rows.full)), np.lexsort((before.ln_n, before.full))
    apart = np.abs(rows.ln_n[order] - before.ln_n[was])
    return bool((apart < 0.1).all() and (rows.full[order] == before.full[was]).all())
