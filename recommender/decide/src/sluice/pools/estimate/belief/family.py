"""The family of shapes of a curve of throughput over concurrency, up to its scale, on a grid.

    ln X(n) = ln n - ln(1 + (n / k)^p) / p - ln(1 + sigma (n - 1) + kappa n (n - 1)) + ln(speed of one thread)

k      concurrency at which all processors are busy: about the CPU limit x (1 + wait / computing)
p      how sharp the turn at k is: 1 is gentle, 8 a corner
sigma  contention, kappa crosstalk: the universal scalability law (Gunther 2007, eq. 4.24), which bends the curve down;
       with a corner, crosstalk is of those beyond it, kappa max(0, n - k)^2: only running threads hinder each other,
       and up to k most of them wait

Worked, k = 10, p = 2, sigma = 0, kappa = 0.001, in units of one thread's speed: X(1) = 0.995, X(5) = 4.38, X(10) =
6.49, X(20) = 6.48, X(40) = 3.79.

**Below its size a pool is not full**, and arrivals make its concurrency: at a mean of 8 in flight there are 4 in one
moment and 13 in the next, so fewer complete than X(8). Such seconds are compared with the mean throughput at that mean
of a birth-death chain with constant arrivals and death rates X(n) (`opened`). A comparison with X(n) itself named 13
threads where 9 are best.

On other cores the same service has k in proportion and all else unchanged: `scale` below is a row's cores divided by
the present ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sluice.fast.belief import values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

K = np.exp(np.linspace(0.0, np.log(256.0), 33))
CORNER = 8.0
P = (1.0, 2.0, CORNER)
SIGMA = (0.0, 0.005, 0.02)
KAPPA = (0.0, 1e-5, 4e-5, 1.6e-4, 6e-4, 2.5e-3, 1e-2, 4e-2)

LN_LEAST, LN_MOST = np.log(0.05), np.log(512.0)
GRID = np.linspace(LN_LEAST, LN_MOST, 172)
"""Grid of ln n. A pool that waits for its load has a tenth of a request in flight. Below the grid no request waits for
another, and throughput is in proportion."""
STEP = float(GRID[1] - GRID[0])
LN_K_STEP = float(np.log(K[1] / K[0]))
SIZES = np.unique(np.concatenate([np.arange(1, 25), np.round(24 * 1.06 ** np.arange(52))]).astype(np.int64))
"""Sizes that are considered: all up to 24, then in steps of 6 %, to 500."""
LN_SIZES = np.log(SIZES)
# Arrival rates of the open system, as parts of the most that a shape can complete.
LOADS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97, 0.99)


@dataclass(frozen=True, eq=False)
class Family:
    """k, shape (S,), and peak, where crosstalk alone bends the curve down. tables, shape (2, 172, S): ln X over `GRID`
    for a pool that is not full, and for one that is. sized, shape (S, N): ln X of a full pool at each of `SIZES`.

    Shapes are ordered by k first, so that shapes next to each other in k are `stride` apart.
    """

    k: Floats
    peak: Floats
    tables: Floats
    sized: Floats
    stride: int

    def __len__(self) -> int:
        return len(self.k)

    def __reduce__(self) -> tuple[Callable[[], Family], tuple[()]]:
        """Each process builds its own: a belief that is sent to another process does not carry it."""
        return family, ()

    @property
    def opened(self) -> Floats:
        """ln X over `GRID` of a pool that is not full, shape (S, 172)."""
        table: Floats = self.tables[0].T
        return table

    @property
    def closed(self) -> Floats:
        """ln X over `GRID` of a full pool, shape (S, 172)."""
        table: Floats = self.tables[1].T
        return table

    def full(self, ln_n: Floats, shapes: Ints | None = None) -> Floats:
        """ln X of a full pool at ln n, shape (m,), on the present cores: shape (S or len(shapes), m)."""
        here = np.maximum(ln_n, LN_LEAST)
        return self.rows(here, np.ones(len(ln_n), dtype=bool), np.ones(len(ln_n)), shapes)

    def rows(self, ln_n: Floats, full: NDArray[np.bool_], scale: Floats, shapes: Ints | None = None) -> Floats:
        """ln X for rows of either kind and any cores; each argument of shape (m,)."""
        which = np.arange(len(self)) if shapes is None else shapes
        return values(*self.grid, ln_n, full, scale, which).T

    @property
    def grid(self) -> tuple[Floats, int, tuple[float, float, float]]:
        """The family as arguments of the compiled loops."""
        return self.tables, self.stride, (float(LN_LEAST), STEP, LN_K_STEP)


@cache
def family() -> Family:
    """The family, built once per process: 2,376 shapes, about 0.5 s."""
    k, p, sigma, kappa = (axis.ravel() for axis in np.meshgrid(K, P, SIGMA, KAPPA, indexing="ij"))
    closed = ln_throughput(np.exp(GRID), k, p, sigma, kappa)
    whole = ln_throughput(np.arange(1.0, 513.0), k, p, sigma, kappa)
    opened = np.stack([_opened(row) for row in whole])
    tables = np.ascontiguousarray(np.stack([np.minimum(opened, closed).T, closed.T]))
    column, right = _place((LN_SIZES - LN_LEAST) / STEP, len(GRID))
    sized = _between(tables[1, column], tables[1, column + 1], right)
    return Family(
        k,
        np.where(p == CORNER, np.inf, 1 / np.sqrt(np.maximum(kappa, 1e-12))),
        tables,
        sized,
        len(P) * len(SIGMA) * len(KAPPA),
    )


def ln_throughput(n: Floats, k: Floats, p: Floats, sigma: Floats, kappa: Floats) -> Floats:
    """The formula above, in units of one thread's speed: shape (S, m) for n of (m,) and parameters of (S,)."""
    n = n[None, :]
    k, p, sigma, kappa = (parameter[:, None] for parameter in (k, p, sigma, kappa))
    others = np.maximum(n - 1, 0.0)
    bends = np.where(p == CORNER, np.maximum(n - k, 0.0) ** 2, n * others)
    ln_x: Floats = np.log(n) - np.log1p((n / k) ** p) / p - np.log1p(sigma * others + kappa * bends)
    return ln_x


def _opened(ln_x: Floats) -> Floats:
    """ln of the mean throughput over `GRID` of the mean in flight, for ln X at 1, 2, ...: shape (172,).

    Beyond the peak, where fewer complete than arrive, the chain would never come back: states from there on are left
    out. More in flight than the heaviest load makes is given that load's throughput.
    """
    n = np.arange(len(ln_x) + 1.0)
    log_sums = np.concatenate([[0.0], np.cumsum(ln_x)])
    arrivals = np.log(LOADS)[:, None] + ln_x.max()
    log_weights = n[None, :] * arrivals - log_sums[None, :]
    beyond = n[None, :] > ln_x.argmax() + 1
    lost = beyond & (np.concatenate([[-np.inf], ln_x])[None, :] < arrivals)
    log_weights[lost] = -np.inf
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    in_flight, done = np.log(weights @ n), np.log(weights[:, 1:] @ np.exp(ln_x))
    opened: Floats = np.interp(GRID, in_flight, done)
    light = in_flight[0] > GRID  # no request waits for another there: throughput in proportion
    opened[light] = done[0] + GRID[light] - in_flight[0]
    return opened


def _between(left: Floats, after: Floats, right: Floats) -> Floats:
    """Interpolates so far behind the left column, shape (m,): (m, S) each to (S, m). Writes to `after`."""
    after -= left
    after *= right[:, None]
    after += left
    return after.T


def _place(position: Floats, length: int) -> tuple[Ints, Floats]:
    """The grid point before a position, at most the last but one, and how far behind it: 0..1."""
    inside = np.minimum(np.maximum(position, 0.0), length - 1.0)
    lower = np.minimum(inside.astype(np.int64), length - 2)
    return lower, inside - lower
