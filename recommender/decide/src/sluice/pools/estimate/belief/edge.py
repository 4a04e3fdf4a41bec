"""An edge: a size from which on a pool completes a fraction of what it does below it, which no smooth curve shows.

In the family (`family.py`) throughput falls beyond its peak at most as 1 / n: crosstalk takes kappa n^2 of n. Where two
full pools differ by more than that, something gave way between them: memory, a cache, a collector of garbage. What was
seen beyond says where not to go, and nothing of the curve before: taken into one fit, it would bend that down. Where
between the two the edge is, nobody knows: anywhere, in ln n.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from sluice.pools.estimate.belief.compiled_seconds import falls
from sluice.pools.estimate.belief.evidence import LN_FULL_STEP, Rows
from sluice.pools.estimate.belief.family import Floats

# In ln X per ln n, and in ln X: a fall that is steeper, and by more, beyond two standard errors.
STEEPER, DEEPER, SURE = -1.2, 0.15, 2.0
# In ln X, of the best that stood: where one of more threads is not so much below, the first was in a passing trouble.
STANDS = 0.3
# In ln n: a size is taken for one that was seen, which is how wide a level is.
HALF_STEP = LN_FULL_STEP / 2


@dataclass(frozen=True)
class Edge:
    """below, above: ln n of the largest full pool that stood and the smallest that fell. Beyond: ln_n, ln_rate of those
    that fell, ascending, shape (f,)."""

    below: float
    above: float
    ln_n: Floats
    ln_rate: Floats

    def chance(self, ln_n: Floats) -> Floats:
        """That a pool falls, 0..1, shape (N,). Worked: 20 stood and 40 fell: of 24 it is 0.25, of 28 0.49."""
        begins, width, *_ = self.numbers
        found: Floats = np.clip((ln_n - begins) / width, 0.0, 1.0)
        return found

    @property
    def numbers(self) -> tuple[float, float, Floats, Floats]:
        """From which ln n on a pool may fall, over how much that chance becomes 1, and what it does beyond: as the
        compiled loops take it."""
        width = max(self.above - self.below - 2 * HALF_STEP, 1e-6)
        return self.below + HALF_STEP, width, self.ln_n, self.ln_rate

    def fallen(self, ln_n: Floats) -> Floats:
        """ln X of a pool that fell, shape (N,): of the nearest that did."""
        found: Floats = np.interp(ln_n, self.ln_n, self.ln_rate)
        return found


NO_EDGE = inf, 1.0, np.zeros(0), np.zeros(0)
"""`numbers` where there is none."""


def split(rows: Rows) -> tuple[Rows, Edge | None]:
    """What the family is fitted to, and the edge on the cores of now that was left out of it, if there is one."""
    if not falls(rows.ln_n, rows.ln_rate, rows.variance, rows.full, rows.scale, STANDS, STEEPER, DEEPER, SURE):
        return rows, None
    fits, edge = np.ones(len(rows), dtype=bool), None
    for scale in set(rows.scale.tolist()):
        of_scale = rows.scale == scale
        full = np.flatnonzero(rows.full & of_scale)
        full = full[np.argsort(rows.ln_n[full], kind="stable")]
        at = _first_fallen(rows.ln_n[full], rows.ln_rate[full], rows.variance[full])
        if at is None:
            continue
        stood, fallen = rows.ln_n[full[:at]], full[at:]
        above = float(rows.ln_n[fallen[0]])
        # What stood at the very size that fell stands there no more.
        smaller = stood[stood < above - HALF_STEP]
        if len(smaller) == 0:
            continue
        below = float(smaller[-1])
        # A pool that is not full where it may have fallen says nothing of the curve before either.
        fits &= ~(of_scale & (rows.ln_n > np.where(rows.full, (below + above) / 2, below)))
        if scale == 1.0:
            edge = Edge(below, above, rows.ln_n[fallen], rows.ln_rate[fallen])
    return (rows, None) if fits.all() else (rows.take(fits), edge)


def _first_fallen(ln_n: Floats, ln_rate: Floats, variance: Floats) -> int | None:
    """Of full pools, ascending in ln n, shape (f,) each: from where on all fell, and one over an edge."""
    stands = np.flatnonzero(ln_rate >= ln_rate.max(initial=-np.inf) - STANDS)
    if len(stands) == 0 or stands[-1] == len(ln_n) - 1:
        return None
    first = int(stands[-1]) + 1
    error = SURE * np.sqrt(variance[:first, None] + variance[None, first:])
    less = ln_rate[None, first:] - ln_rate[:first, None] + error
    steep = less < STEEPER * (ln_n[None, first:] - ln_n[:first, None]) - DEEPER
    return first if steep.any() else None
