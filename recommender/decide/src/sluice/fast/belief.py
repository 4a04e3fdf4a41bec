"""The loops of the belief over shapes, compiled by Numba: as array expressions half of their time is calls and copies.

Values have a row for each row of the evidence, or size, and a column for each shape: innermost loops run along rows.
Numba compiles them once and caches them beside this file, or in the user's cache where that is read-only. A change of
this file discards the cache; a change of another does not, so constants of other files are arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])

# So many shapes' values fit the nearest cache together.
PART = 128
# This far below the likeliest one's weight, in ln, a shape adds nothing to a sum.
NOTHING = 40.0
# At so many lengths of the process, exp(-d^2 / 2) is less than 2e-16.
FAR = 8.5


def compiled(function: Function) -> Function:
    return _kept(function, fastmath=False)


def summed(function: Function) -> Function:
    """As `compiled`, for sums along a row: the compiler chooses their order, as each addition would otherwise wait for
    the last."""
    return _kept(function, fastmath={"reassoc", "nsz"})


def _kept(function: Function, fastmath: bool | set[str]) -> Function:
    try:
        return cast(Function, numba.njit(cache=True, error_model="numpy", fastmath=fastmath)(function))
    except RuntimeError:  # no place to cache it: each process compiles for itself
        return cast(Function, numba.njit(error_model="numpy", fastmath=fastmath)(function))


@compiled
def values(
    tables: Floats,
    stride: int,
    grid: tuple[float, float, float],
    ln_n: Floats,
    full: NDArray[np.bool_],
    scale: Floats,
    shapes: Ints,
) -> Floats:
    """ln X of shapes (s,) at ln n, of a full pool or not, on cores times `scale`, each (m,): shape (m, s).

    tables: (2, G, S), over ln n. grid: the least ln n, its steps, and those of ln k. Shapes `stride` apart are next to
    each other in k, so k times the scale is that many steps further on. Below the grid X is in proportion to n.
    """
    rows = np.empty((len(ln_n), len(shapes)))
    least, step, k_step = grid
    most, last = tables.shape[2] // stride - 1, tables.shape[1] - 1
    for row in range(len(ln_n)):
        at = min(max((ln_n[row] - least) / step, 0.0), float(last))
        at_left = min(int(at), last - 1)
        behind, below = at - at_left, min(ln_n[row] - least, 0.0)
        kind = 1 if full[row] else 0
        left, right = tables[kind, at_left], tables[kind, at_left + 1]
        if scale[row] == 1.0:
            for column in range(len(shapes)):
                shape = shapes[column]
                rows[row, column] = left[shape] + behind * (right[shape] - left[shape]) + below
            continue
        further = log(scale[row]) / k_step
        for column in range(len(shapes)):
            shape = shapes[column]
            k = min(max(shape // stride + further, 0.0), float(most))
            lower = min(int(k), most - 1)
            upper = k - lower
            one = lower * stride + shape % stride
            value = (1 - upper) * (left[one] + behind * (right[one] - left[one]))
            one += stride
            rows[row, column] = value + upper * (left[one] + behind * (right[one] - left[one])) + below
    return rows


@compiled
def _add_product(line: Floats, factors: Floats, lines: Floats, count: int, width: int) -> None:
    """line[:width] += factors[:count] @ lines[:count, :width]."""
    whole = count - count % 4
    for j in range(0, whole, 4):
        a, b, c, d = factors[j], factors[j + 1], factors[j + 2], factors[j + 3]
        one, two, three, four = lines[j], lines[j + 1], lines[j + 2], lines[j + 3]
        for column in range(width):
            line[column] += a * one[column] + b * two[column] + c * three[column] + d * four[column]
    for j in range(whole, count):
        a, one = factors[j], lines[j]
        for column in range(width):
            line[column] += a * one[column]


@compiled
def _alike(lengths_apart: float) -> float:
    """exp(-d^2 / 2); 0 where that is below the precision of 1."""
    return exp(-0.5 * lengths_apart * lengths_apart) if abs(lengths_apart) < FAR else 0.0


@compiled
def _likeness(ln_n: Floats, scale: Floats, length: float) -> Floats:
    """K of the rows without its s^2, shape (m, m): the lower triangle."""
    alike = np.zeros((len(ln_n), len(ln_n)))
    for i in range(len(ln_n)):
        for j in range(i + 1):
            if scale[i] == scale[j]:
                alike[i, j] = _alike((ln_n[i] - ln_n[j]) / length)
    return alike


@compiled
def _root(alike: Floats, variance: Floats, spread: float) -> Floats:
    """L with L L' = diag(v) + K, shape (m, m): the lower triangle, with its diagonal inverted."""
    root = np.zeros(alike.shape)
    for i in range(len(variance)):
        for j in range(i + 1):
            sum_ = spread * spread * alike[i, j]
            if i == j:
                sum_ += variance[i]
            for k in range(j):
                sum_ -= root[i, k] * root[j, k]
            root[i, j] = 1 / sqrt(sum_) if i == j else sum_ * root[j, j]
    return root


@compiled
def _weighed(residual: Floats, root: Floats, prior: Floats, ln_weight: Floats, ln_speed: Floats) -> tuple[float, float]:
    """Writes each shape's ln weight and scale, (S,) each; the scale's precision, and ln sqrt |Q|."""
    rows, count = residual.shape
    ones, precision, volume = np.empty(rows), 0.0, 0.0
    minus = -root
    for i in range(rows):
        one = 1.0
        for j in range(i):
            one -= root[i, j] * ones[j]
        ones[i] = one * root[i, i]
        precision += ones[i] * ones[i]
        volume += log(root[i, i])
    part = np.empty((rows, PART))
    for begin in range(0, count, PART):
        width = min(PART, count - begin)
        speed, square = ln_speed[begin : begin + width], ln_weight[begin : begin + width]
        speed[:] = 0.0
        square[:] = 0.0
        for i in range(rows):
            line = part[i]
            line[:width] = residual[i, begin : begin + width]
            _add_product(line, minus[i], part, i, width)
            inverse, one = root[i, i], ones[i]
            for column in range(width):
                line[column] *= inverse
                speed[column] += one * line[column]
                square[column] += line[column] * line[column]
        for column in range(width):
            speed[column] /= precision
            square[column] = 0.5 * (speed[column] ** 2 * precision - square[column]) + prior[begin + column]
    return precision, volume


@compiled
def _precision(root: Floats) -> Floats:
    """Q of its root."""
    rows = len(root)
    inverse = np.zeros((rows, rows))
    for j in range(rows):
        inverse[j, j] = root[j, j]
        for i in range(j + 1, rows):
            sum_ = 0.0
            for k in range(j, i):
                sum_ -= root[i, k] * inverse[k, j]
            inverse[i, j] = sum_ * root[i, i]
    return inverse.T @ inverse


Rows = tuple[Floats, Floats, NDArray[np.bool_], Floats]
"""ln n, ln rate, whether the pool was full, and scale of the rows, each (m,)."""
Left = tuple[Ints, Floats, Floats]
"""Remaining shapes, their weight and their scale in ln, each (s,)."""
Process = tuple[Floats, float, float]
"""The Gaussian process: Q, (m, m), its spread and its length."""
Known = tuple[Floats, int, tuple[float, float, float], Rows, Left, Process, float]
"""A belief: the shapes' tables, stride and grid; rows; remaining shapes; process; variance of the scale."""


@compiled
def residuals(tables: Floats, stride: int, grid: tuple[float, float, float], rows: Rows, left: Left) -> Floats:
    """Residual of each row under each remaining shape, (m, s)."""
    ln_n, ln_rate, full, scale = rows
    shapes, _, ln_speed = left
    predicted = values(tables, stride, grid, ln_n, full, scale, shapes)
    for row in range(len(ln_n)):
        line = predicted[row]
        for column in range(len(shapes)):
            line[column] = ln_rate[row] - ln_speed[column] - line[column]
    return predicted


Fit = tuple[int, float, float, NDArray[np.bool_], Ints, Floats, Floats, Ints, Floats]


@compiled
def fit(
    tables: Floats,
    stride: int,
    grid: tuple[float, float, float],
    rows: Rows,
    variance: Floats,
    shapes: Ints,
    prior: Floats,
    spreads: Floats,
    ln_spread_prior: Floats,
    length: float,
    limits: tuple[float, float, float],
) -> Fit:
    """The likeliest spread, and the shapes that remain under it.

    variance: of the rows, (m,). shapes: those considered, with their ln prior, (S,) each. spreads, ln_spread_prior:
    (a,). limits: of the ln weight of a remaining and of a likely shape; and of ln of a spread's likelihood. Returns the
    index of the spread, the likeliest shape's ln weight, the variance of the scale, which spreads are possible, the
    remaining shapes, their weight and scale, the likely ones, and Q, (m, m).
    """
    ln_n, _, _, scale = rows
    negligible, unlikely, nearly = limits
    candidates, count = len(spreads), len(shapes)
    residual = residuals(tables, stride, grid, rows, (shapes, prior, np.zeros(count)))
    ln_weight, ln_speed = np.empty((candidates, count)), np.empty((candidates, count))
    tops, ln_likely, precision = np.empty(candidates), np.zeros(candidates), np.empty(candidates)
    roots = np.empty((candidates, len(ln_n), len(ln_n)))
    alike = _likeness(ln_n, scale, length)
    for i in range(candidates):
        roots[i] = _root(alike, variance, spreads[i])
        precision[i], volume = _weighed(residual, roots[i], prior, ln_weight[i], ln_speed[i])
        tops[i] = ln_weight[i].max()
        if candidates > 1:
            total = 0.0
            for ln_w in ln_weight[i]:
                if ln_w > tops[i] - NOTHING:
                    total += exp(ln_w - tops[i])
            ln_likely[i] = tops[i] + log(total) - 0.5 * log(precision[i]) + ln_spread_prior[i] + volume
    best = int(ln_likely.argmax())
    possible = ln_likely > ln_likely[best] - nearly
    likely = np.zeros(count, dtype=np.bool_)
    for i in range(candidates):
        if possible[i]:
            likely |= ln_weight[i] >= tops[i] + unlikely
    left = np.flatnonzero(ln_weight[best] >= tops[best] + negligible)
    weight = np.exp(ln_weight[best][left] - tops[best])
    weight /= weight.sum()
    speed = ln_speed[best][left]
    return (
        best,
        tops[best],
        1 / precision[best],
        possible,
        shapes[left],
        weight,
        speed,
        shapes[likely],
        _precision(roots[best]),
    )


@compiled
def _near(ln_n: float, rows: Rows, spread: float, length: float, found: Floats) -> None:
    """Writes the covariance of the process at ln n with the rows, (m,); rows of other cores are no neighbours."""
    for row in range(len(found)):
        found[row] = spread * spread * _alike((ln_n - rows[0][row]) / length) if rows[3][row] == 1.0 else 0.0


@summed
def _moments(line: Floats, weight: Floats) -> tuple[float, float]:
    """Weighted mean and variance."""
    mean = variance = 0.0
    for column in range(len(weight)):
        mean += weight[column] * line[column]
    for column in range(len(weight)):
        off = line[column] - mean
        variance += weight[column] * off * off
    return mean, variance


@compiled
def predictions(
    tables: Floats,
    stride: int,
    grid: tuple[float, float, float],
    rows: Rows,
    left: Left,
    process: Process,
    speed_variance: float,
    ln_n: Floats,
    full: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """Mean and variance of ln X at ln n on the present cores, each (k,)."""
    shapes, weight, ln_speed = left
    precision, spread, length = process
    ln_x = values(tables, stride, grid, ln_n, full, np.ones(len(ln_n)), shapes)
    residual = residuals(tables, stride, grid, rows, left)
    near = np.empty(len(precision))
    mean, variance = np.empty(len(ln_n)), np.empty(len(ln_n))
    for i in range(len(ln_n)):
        line = ln_x[i]
        line += ln_speed
        _near(ln_n[i], rows, spread, length, near)
        pull = precision @ near
        _add_product(line, pull, residual, len(near), len(shapes))
        mean[i], variance[i] = _moments(line, weight)
        variance[i] += max(0.0, spread * spread - near @ pull) + speed_variance * (1.0 - pull.sum()) ** 2
    return mean, variance


@compiled
def gained(
    tables: Floats,
    stride: int,
    grid: tuple[float, float, float],
    sized: Floats,
    rows: Rows,
    left: Left,
    process: Process,
    ln_n: Floats,
    at: int,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Gains of sizes (N,) at ln n over the one at `at`: by each shape, (N, s), mean and variance, (N,); and ln X of
    that one by each shape, (s,).

    sized: ln X of all shapes at the first of the sizes.
    """
    shapes, weight, ln_speed = left
    precision, spread, length = process
    residual = residuals(tables, stride, grid, rows, left)
    gain = np.empty((len(ln_n), len(shapes)))
    for size in range(len(sized)):
        for column in range(len(shapes)):
            gain[size, column] = sized[size, shapes[column]]
    if len(ln_n) > len(sized):
        others = np.maximum(ln_n[len(sized) :], grid[0])
        full = np.ones(len(others), dtype=np.bool_)
        gain[len(sized) :] = values(tables, stride, grid, others, full, np.ones(len(others)), shapes)
    here, apart = gain[at].copy(), np.empty((len(ln_n), len(precision)))
    for size in range(len(ln_n)):
        _near(ln_n[size], rows, spread, length, apart[size])
    near = apart[at].copy()
    apart -= near
    pull = apart @ precision
    mean, variance = np.empty(len(ln_n)), np.empty(len(ln_n))
    for size in range(len(ln_n)):
        line = gain[size]
        line -= here
        _add_product(line, pull[size], residual, len(near), len(shapes))
        mean[size], variance[size] = _moments(line, weight)
        local = 2 * spread * spread * (1 - _alike((ln_n[size] - ln_n[at]) / length))
        for row in range(len(near)):
            local -= apart[size, row] * pull[size, row]
        variance[size] += max(0.0, local)
    here += ln_speed
    _add_product(here, precision @ near, residual, len(near), len(shapes))
    return gain, mean, variance, here


@compiled
def away_from(rows: Rows, ln_n: Floats, full: NDArray[np.bool_], near: float) -> Floats:
    """Distance in ln n from each (k,) to the nearest row of the same kind and cores, else to any, beyond what is
    near. 0 without a row, of seconds with almost no completions: there is no prediction to contradict."""
    positions = np.zeros(len(ln_n))
    if len(rows[0]) == 0:
        return positions
    for i in range(len(ln_n)):
        same = other = np.inf
        for row in range(len(rows[0])):
            apart = abs(ln_n[i] - rows[0][row])
            other = min(other, apart)
            if rows[2][row] == full[i] and rows[3][row] == 1.0:
                same = min(same, apart)
        positions[i] = max((other if same == np.inf else same) - near, 0.0)
    return positions


@compiled
def contradicted(
    tables: Floats,
    stride: int,
    grid: tuple[float, float, float],
    rows: Rows,
    left: Left,
    process: Process,
    speed_variance: float,
    observed: Floats,
    edge: tuple[float, float, Floats, Floats],
    most_ln_n: float,
    dispersion: float,
    errors: tuple[float, float],
    away: tuple[float, float],
    moved: tuple[float, float],
) -> Floats:
    """`doubt.contradictions`, (k,). observed: (k, 6), columns as the fields of `evidence.Second`. edge: `Edge.numbers`.
    errors: of a saturated pool and of one that is not. away: standard deviation per ln n away from the rows, and the
    ln n that counts as none. moved: width of "it has moved", in ln X, and the most that counts."""
    full, ln_n = observed[:, 1] > 0, np.log(observed[:, 3])
    inside = np.minimum(ln_n, most_ln_n)
    apart = away_from(rows, ln_n, full, away[1])
    mean, variance = predictions(tables, stride, grid, rows, left, process, speed_variance, inside, full)
    scores = np.empty(len(observed))
    for i in range(len(observed)):
        saturated, completions, seconds = observed[i, 2] > 0, observed[i, 4], observed[i, 5]
        falls = min(max((inside[i] - edge[0]) / edge[1], 0.0), 1.0) if full[i] else 0.0
        expected = mean[i]
        if falls > 0:
            expected = (1 - falls) * mean[i] + falls * np.interp(inside[i], edge[2], edge[3])
        known = variance[i] + dispersion / completions + errors[0 if saturated else 1] ** 2
        known += (away[0] * apart[i]) ** 2
        wide, off = known + moved[0] ** 2, log(completions / seconds) - expected
        scores[i] = min(0.5 * off**2 * (1 / known - 1 / wide) - 0.5 * log(wide / known), moved[1])
    return scores
