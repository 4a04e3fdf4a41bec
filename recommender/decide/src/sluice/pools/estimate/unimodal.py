"""Weighted least-squares fit that rises and then falls (isotonic up, then down).

Goodput against concurrency rises until the resource behind it is busy, and then stays or falls: one hump, whatever its
formula. The fit uses only this, so it has no degree to choose and cannot oscillate as polynomials do.
"""

from __future__ import annotations

import numpy as np

from sluice.pools.estimate.samples import Floats


def unimodal_fit(y: Floats, weight: Floats) -> Floats:
    """The unimodal sequence nearest to `y` in weighted squares; shapes (m,), m >= 1, weight > 0.

    y = 1, 3, 2, 4, 0 with equal weights -> 1, 2.5, 2.5, 4, 0.
    """
    from scipy.optimize import isotonic_regression  # slow to import: `libraries.py`

    rising = _prefix_errors(y, weight)
    falling = _prefix_errors(y[::-1], weight[::-1])[::-1]
    # Split k: the first k points rise, the others fall.
    split = int(np.argmin(rising + falling))
    parts = []
    if split > 0:
        parts.append(isotonic_regression(y[:split], weights=weight[:split]).x)
    if split < len(y):
        parts.append(isotonic_regression(y[split:], weights=weight[split:], increasing=False).x)
    return np.asarray(np.concatenate(parts), dtype=np.float64)


def _prefix_errors(y: Floats, weight: Floats) -> Floats:
    """Error of the best rising fit of the first k points, for k = 0..m: shape (m + 1,).

    Pool-adjacent-violators passes every prefix on its way (Stout, "Unimodal regression via prefix isotonic regression",
    2008), so all splits cost no more than one.
    """
    means: list[float] = []
    weights: list[float] = []
    errors: list[float] = []  # running error up to and with each block
    out = np.zeros(len(y) + 1)
    for k, (value, mass) in enumerate(zip(y.tolist(), weight.tolist(), strict=True), start=1):
        error = 0.0
        while means and means[-1] >= value:
            previous, w = means.pop(), weights.pop()
            own = errors.pop() - (errors[-1] if errors else 0.0)
            error += own + w * mass / (w + mass) * (previous - value) ** 2
            value, mass = (w * previous + mass * value) / (w + mass), w + mass
        means.append(value)
        weights.append(mass)
        errors.append((errors[-1] if errors else 0.0) + error)
        out[k] = errors[-1]
    return out
