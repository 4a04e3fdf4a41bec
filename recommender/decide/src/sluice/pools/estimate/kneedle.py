"""Kneedle over a fitted polynomial (Sora 3.3; Satopaa et al., "Finding a Kneedle in a haystack", 2011)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial

from sluice.pools.estimate.curve import Curve
from sluice.pools.estimate.samples import Floats

# "a polynomial degree ranging from 5 to 8 can fit our profiling data" (Sora 3.3).
DEGREES = (5, 6, 7, 8)
# Kneedle's threshold is S times the mean gap in x, so the number of points changes its result. The polynomial is
# therefore read on a grid of fixed size, whatever the number of levels.
GRID = 101


@dataclass(frozen=True)
class Knee:
    """concurrency: where the knee is; fitted_per_s: the polynomial at the curve's points, shape (m,)."""

    concurrency: float
    degree: int
    fitted_per_s: Floats


def find_knee(curve: Curve, degree: int) -> Knee | None:
    """The knee of a polynomial of `degree`, weighted by counts; None when there is none or m <= degree.

    Kneedle normalizes both axes to 0..1 and takes the first maximum of y - x. There the slope has fallen to that of the
    diagonal. Kneedle assumes a concave rising curve. It gets a hump whole, not only its rising part: the fall widens x,
    which lowers the diagonal's slope and moves the knee up to the top. Cut at the top, the same curve has its knee far
    left of it.
    """
    from kneed import KneeLocator  # a second of CPU, with matplotlib: `libraries.py`

    if len(curve) <= degree:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a badly conditioned fit shows in the check against the data
        fit = Polynomial.fit(curve.concurrency, curve.goodput_per_s, degree, w=np.sqrt(curve.count))
    x = np.linspace(curve.concurrency[0], curve.concurrency[-1], GRID)
    y = fit(x)
    if not np.all(np.isfinite(y)) or np.ptp(y) <= 0:
        return None
    knee = KneeLocator(x, y, S=1.0, curve="concave", direction="increasing").knee
    return None if knee is None else Knee(float(knee), degree, np.asarray(fit(curve.concurrency)))
