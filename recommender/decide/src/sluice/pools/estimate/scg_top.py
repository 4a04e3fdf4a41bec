"""SCG with the top of the fitted polynomial instead of its knee.

Kneedle's knee is where the curve's slope has fallen to that of the diagonal from its first point to its last. That
slope depends on the range of concurrency in the data: between 1 and 50 in flight one more slot counts while it gains 2
% of the best, between 1 and 25 while it gains 4 %. So the knee lies left of the top, further left the smaller the
range. This estimator takes the smallest concurrency, left of the polynomial's top, from which goodput stays at 99 % of
it or more. That is the same for every range. Everything else is as in `scg`; `tests/bench/table1.py` compares them.

Of the degrees whose top lies in the band it takes the one with the best fit for its number of terms (Schwarz,
"Estimating the dimension of a model", 1978). `scg` takes the lowest; a wide band holds the tops of polynomials that
miss the curve. Of 600 points of USL with its top at 96.5, noise 3 %, degree 5 has its top at 92.7 and 99 % of it from
73.6 on, where the law has 98.6 %. Degree 7, which is taken, has it from 80.0 on, where the law has 99.2 %.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.polynomial import Polynomial

from sluice.model.reason import Reason
from sluice.pools.estimate.curve import Curve
from sluice.pools.estimate.evidence import NEED, Need, Top
from sluice.pools.estimate.kneedle import DEGREES, GRID, Knee
from sluice.pools.estimate.model import Estimate
from sluice.pools.estimate.reading import read
from sluice.pools.estimate.samples import Samples

ENOUGH = 0.99


class ScgTop:
    """SCG by the top of the fit; satisfies `Estimator`."""

    name = "scg-top"

    def __init__(self, need: Need = NEED) -> None:
        self._need = need

    def estimate(self, samples: Samples | None) -> Estimate:
        reading = read(samples, self._need)
        if isinstance(reading, Estimate):
            return reading
        top, fitted = reading.top, _matching_top(reading.curve, reading.top)
        if fitted is None:
            band = f"{top.lower:.1f}..{top.upper:.1f}"
            text = f"no polynomial of degree 5 to 8 has its top in {band}: smallest concurrency at 95 % of the best"
            low = min(top.lower, top.first)
            return reading.provided(top.first, Reason("UNIMODAL_FIT", text), low, top.upper, methods_agree=False)
        text = f"degree {fitted.degree} reaches {ENOUGH:.0%} of its top at {fitted.concurrency:.1f} in flight"
        low = min(top.lower, fitted.concurrency)
        return reading.provided(fitted.concurrency, Reason("TOP", text), low, top.upper, True, fitted)


def _matching_top(curve: Curve, top: Top) -> Knee | None:
    """The fit of the degree with the least criterion, of those whose polynomial is highest inside the band."""
    matching = []
    for degree in DEGREES:
        fitted = find_top_of_fit(curve, degree)
        if fitted is not None and top.lower <= fitted[0] <= top.upper:
            matching.append(Knee(max(fitted[1], top.lower), degree, fitted[2]))
    return min(matching, key=lambda knee: _criterion(curve, knee), default=None)


def _criterion(curve: Curve, fit: Knee) -> float:
    """m ln(error) + terms ln(m), for m levels; the error is the weighted mean square. The least is best."""
    m = len(curve)
    error = np.average((fit.fitted_per_s - curve.goodput_per_s) ** 2, weights=curve.count)
    return float(m * np.log(max(error, np.finfo(float).tiny)) + (fit.degree + 1) * np.log(m))


def find_top_of_fit(curve: Curve, degree: int) -> tuple[float, float, np.ndarray] | None:
    """Where a weighted polynomial is highest, the first point left of it at `ENOUGH` of that, and the fit (m,).

    None when m <= degree. Worked: 100 - (x - 10)^2 is highest at 10, and at 99 from 9 on.
    """
    if len(curve) <= degree:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a badly conditioned fit shows in the check against the band
        fit = Polynomial.fit(curve.concurrency, curve.goodput_per_s, degree, w=np.sqrt(curve.count))
    x = np.linspace(curve.concurrency[0], curve.concurrency[-1], GRID)
    y = fit(x)
    if not np.all(np.isfinite(y)) or y.max() <= 0:
        return None
    peak = int(np.argmax(y))
    below = np.flatnonzero(y[:peak] < ENOUGH * y[peak])
    first = int(below[-1]) + 1 if len(below) else 0
    return float(x[peak]), float(x[first]), np.asarray(fit(curve.concurrency))
