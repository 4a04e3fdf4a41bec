"""Percentiles of mixtures of log-normal distributions, many at once (Microns, 5.4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sluice.subsets.fleet import Floats, Ints

#: The tolerance in ln(latency): a millionth of the latency.
CLOSE = 1e-6
MOST_STEPS = 60


def percentiles(mu: Floats, sigma: Floats, weight: Floats, start: Ints, percentile: float) -> tuple[Floats, bool]:
    """ln(latency) below which `percentile` of each mixture lies, (E,), and whether all came within CLOSE.

    Mixture e consists of the rows from start[e] to start[e + 1], at least one. Weights need not add up to 1: F_e = sum
    of w_j Phi((ln l - mu_j) / sigma_j) / sum of w_j. Where all weights are 0, rows count alike. The percentile lies
    between the least and the greatest percentile of the parts, where Brent's method starts. It takes inverse quadratic
    and secant steps, and halves the interval where those would not be faster.
    """
    from scipy.special import ndtr, ndtri

    begin = start[:-1]
    counts = np.diff(start)
    total = np.add.reduceat(weight, begin)
    share = np.where(np.repeat(total, counts) > 0, weight, 1.0)
    share = share / np.repeat(np.add.reduceat(share, begin), counts)
    own = mu + sigma * float(ndtri(percentile))
    used = share > 0
    low = np.minimum.reduceat(np.where(used, own, np.inf), begin)
    high = np.maximum.reduceat(np.where(used, own, -np.inf), begin)

    def over(at: Floats) -> Floats:
        return np.asarray(np.add.reduceat(share * ndtr((np.repeat(at, counts) - mu) / sigma), begin) - percentile)

    return _brent(over, low - CLOSE, high + CLOSE)


class Bracket(NamedTuple):
    """The points around each root, (E,): `b` is the best so far, `a` the one before, `c` on the other side of the root.
    fa, fb, fc: the values of the functions there."""

    a: Floats
    b: Floats
    c: Floats
    fa: Floats
    fb: Floats
    fc: Floats


def _brent(over, low: Floats, high: Floats) -> tuple[Floats, bool]:  # type: ignore[no-untyped-def]
    """Brent (1973), zero, for many rising functions at once. The letters are those of `Bracket`."""
    a, b = low.copy(), high.copy()
    fa, fb = over(a), over(b)
    c, fc = a.copy(), fa.copy()
    step = last = b - a
    for _ in range(MOST_STEPS):
        swap = np.abs(fc) < np.abs(fb)
        a, b, c = np.where(swap, b, a), np.where(swap, c, b), np.where(swap, b, c)
        fa, fb, fc = np.where(swap, fb, fa), np.where(swap, fc, fb), np.where(swap, fb, fc)
        half = (c - b) / 2
        done = (np.abs(half) <= CLOSE / 2) | (fb == 0)
        if done.all():
            return b, True
        step, last = _next_steps(Bracket(a, b, c, fa, fb, fc), half, step, last)
        moved = np.where(np.abs(step) > CLOSE / 2, step, np.copysign(CLOSE / 2, half))
        a, fa = b, fb
        b = np.where(done, b, b + moved)
        fb = over(b)
        same = np.sign(fb) == np.sign(fc)
        same &= ~done
        c, fc = np.where(same, a, c), np.where(same, fa, fc)
        step, last = np.where(same, b - a, step), np.where(same, b - a, last)
    return b, False


def _next_steps(bracket: Bracket, half: Floats, step: Floats, last: Floats) -> tuple[Floats, Floats]:
    """The step from b, and the step before it. A step must be shorter than half of the one before."""
    a, b, c, fa, fb, fc = bracket
    with np.errstate(divide="ignore", invalid="ignore"):
        s, q, r = fb / fa, fa / fc, fb / fc
        secant = a == c
        p = np.where(secant, 2 * half * s, s * (2 * half * q * (q - r) - (b - a) * (r - 1)))
        q = np.where(secant, 1 - s, (q - 1) * (r - 1) * (s - 1))
        q = np.where(p > 0, -q, q)
        p = np.abs(p)
        slow = np.minimum(3 * half * q - np.abs(CLOSE / 2 * q), np.abs(last * q))
        good = (np.abs(last) >= CLOSE / 2) & (np.abs(fa) > np.abs(fb)) & (2 * p < slow) & np.isfinite(p / q)
        return np.where(good, p / q, half), np.where(good, step, half)
