"""An edge: a size from which on a pool completes a fraction of its completions below. No smooth curve shows one.

In the family (`family.py`) throughput falls beyond its peak at most as 1 / n: crosstalk takes kappa n^2 of n. Where two
full pools differ by more than that, something failed between them: memory, a cache, a garbage collector. Evidence
beyond the edge says where not to go, and nothing of the curve before it: in one fit, it would bend that down. The edge
may be anywhere between the two, evenly in ln n.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from sluice.fast.belief_seconds import falls
from sluice.pools.estimate.belief.evidence import LN_FULL_STEP, LevelRows
from sluice.pools.estimate.belief.family import Floats

# An edge is a fall that is steeper (ln X per ln n) and deeper (ln X) than these, beyond two standard errors.
STEEPER, DEEPER, SURE = -1.2, 0.15, 2.0
# In ln X below the best: where a larger pool loses no more than this, the fall before it was a passing disturbance.
STANDS = 0.3
# In ln n: a size this near another counts as the same. It is half the width of a level.
HALF_STEP = LN_FULL_STEP / 2


@dataclass(frozen=True)
class Edge:
    """below, above: ln n of the largest full pool that stood and the smallest that fell. ln_n, ln_rate: the pools that
    fell, ascending, shape (f,)."""

    below: float
    above: float
    ln_n: Floats
    ln_rate: Floats

    def chance(self, ln_n: Floats) -> Floats:
        """The chance that a pool falls, 0..1, shape (N,). Worked: 20 stood and 40 fell: of 24 it is
        0.25, of 28 0.49."""
        begins, width, *_ = self.numbers
        chances: Floats = np.clip((ln_n - begins) / width, 0.0, 1.0)
        return chances

    @property
    def numbers(self) -> tuple[float, float, Floats, Floats]:
        """The ln n from which a pool may fall, the width over which that chance becomes 1, and the rates beyond it, as
        arguments of the compiled loops."""
        width = max(self.above - self.below - 2 * HALF_STEP, 1e-6)
        return self.below + HALF_STEP, width, self.ln_n, self.ln_rate

    def fallen(self, ln_n: Floats) -> Floats:
        """ln X of a pool that fell, shape (N,): interpolated from those that did."""
        ln_rates: Floats = np.interp(ln_n, self.ln_n, self.ln_rate)
        return ln_rates


NO_EDGE = inf, 1.0, np.zeros(0), np.zeros(0)
"""`numbers` without an edge."""


def split(rows: LevelRows) -> tuple[LevelRows, Edge | None]:
    """The rows that the family is fitted to, and the edge on the present cores that was left out of them, if there is
    one."""
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
        # Evidence that the size that fell once stood does not count any more.
        smaller = stood[stood < above - HALF_STEP]
        if len(smaller) == 0:
            continue
        below = float(smaller[-1])
        # A pool that is not full, at a size that may have fallen, says nothing of the curve before the edge either.
        fits &= ~(of_scale & (rows.ln_n > np.where(rows.full, (below + above) / 2, below)))
        if scale == 1.0:
            edge = Edge(below, above, rows.ln_n[fallen], rows.ln_rate[fallen])
    if edge is not None:
        fits &= ~_fallen_elsewhere(rows, edge)
    return (rows, None) if fits.all() else (rows.take(fits), edge)


def _fallen_elsewhere(rows: LevelRows, edge: Edge) -> NDArray[np.bool_]:
    """The full pools on other CPU limits that fell too, shape (m,): larger than the best one that stood here, with
    steeply less than it would complete on their part of the cores. Their own limit may have none that stood.

    Worked, 11 complete 866 a second on 8 cores: 22 that complete 29 on 4 cores fell, as 29 is under 433 x 0.5^1.2 x
    0.86 = 162.
    """
    here = np.flatnonzero(rows.full & (rows.scale == 1.0) & (rows.ln_n < edge.above - HALF_STEP))
    best = here[rows.ln_rate[here].argmax()]
    further = rows.ln_n - rows.ln_n[best]
    least = rows.ln_rate[best] + np.log(np.minimum(rows.scale, 1.0)) + STEEPER * further - DEEPER
    error = SURE * np.sqrt(rows.variance + rows.variance[best])
    fell: NDArray[np.bool_] = rows.full & (rows.scale != 1.0) & (further > HALF_STEP) & (rows.ln_rate + error < least)
    return fell


def _first_fallen(ln_n: Floats, ln_rate: Floats, variance: Floats) -> int | None:
    """The index from which on all full pools fell, one of them over an edge; pools ascend in ln n, shape (f,) each."""
    stands = np.flatnonzero(ln_rate >= ln_rate.max(initial=-np.inf) - STANDS)
    if len(stands) == 0 or stands[-1] == len(ln_n) - 1:
        return None
    first = int(stands[-1]) + 1
    error = SURE * np.sqrt(variance[:first, None] + variance[None, first:])
    less = ln_rate[None, first:] - ln_rate[:first, None] + error
    steep = less < STEEPER * (ln_n[None, first:] - ln_n[:first, None]) - DEEPER
    return first if steep.any() else None
