"""The loops over the levels of a pool's evidence, compiled by Numba as those over shapes are (`compiled.py`).

Levels are rows of an array, (n, 7), with columns as the fields of `evidence.Level`.
"""

from __future__ import annotations

from math import exp, isnan, log

import numpy as np

from sluice.fast.belief import Floats, Ints, compiled

CORES, FULL, SATURATED, STEP, COMPLETIONS, SECONDS, IN_FLIGHT_S = range(7)


@compiled
def with_seconds(
    levels: Floats,
    new: Floats,
    steps: tuple[float, float],
    memory_s: tuple[float, float],
    drift: float,
    least_s: float,
) -> Floats:
    """`Evidence.with_seconds`. new: (k, 6), columns as the fields of `evidence.Second`. steps: in ln n, of a full pool
    and of one that is not. memory_s: of a kind, and of a saturated size that is not in force. least_s: a level with
    fewer seconds is dropped."""
    rows, count = np.empty((len(levels) + len(new), 7)), len(levels)
    rows[:count] = levels
    for second in new:
        cores, full, saturated = second[0], second[1], second[2]
        concurrency, completions, seconds = second[3], second[4], second[5]
        own = np.rint(log(concurrency) / (steps[0] if full > 0 else steps[1]))
        share, place, left = exp(-seconds / memory_s[0]), -1, 0
        for at in range(count):
            level = rows[at]
            if level[FULL] == full and level[SATURATED] == saturated and level[CORES] == cores:
                part = share
                if level[STEP] != own and saturated > 0:
                    part = exp(-seconds / memory_s[1]) / (1 + drift * level[COMPLETIONS] * seconds)
                level[COMPLETIONS] *= part
                level[SECONDS] *= part
                level[IN_FLIGHT_S] *= part
                if level[STEP] == own:
                    place = left
            if place != left and level[SECONDS] < least_s:
                continue
            rows[left] = level
            left += 1
        count = left
        if place < 0:
            place, count = count, count + 1
            rows[place, CORES], rows[place, FULL], rows[place, SATURATED] = cores, full, saturated
            rows[place, STEP], rows[place, COMPLETIONS:] = own, 0.0
        level = rows[place]
        level[COMPLETIONS] += completions
        level[SECONDS] += seconds
        level[IN_FLIGHT_S] += concurrency * seconds
    return rows[:count].copy()


@compiled
def weight(levels: Floats, cores: float, unreported: float) -> float:
    """`Evidence.weight`. unreported: the value for unreported cores."""
    sum_ = 0.0
    for level in levels:
        if (level[CORES] == unreported) == (cores == unreported):
            sum_ += 2 * level[SECONDS] if level[SATURATED] > 0 else level[SECONDS]
    return sum_


@compiled
def seconds_on(levels: Floats, cores: float) -> float:
    """`Evidence.seconds_on`."""
    sum_ = 0.0
    for level in levels:
        if level[CORES] == cores:
            sum_ += level[SECONDS]
    return sum_


@compiled
def ever_full(levels: Floats, cores: float) -> bool:
    """`Evidence.ever_full`."""
    full = False
    for level in levels:
        full |= level[FULL] > 0 and level[CORES] == cores
    return full


@compiled
def full_s(levels: Floats, least: float, cores: float) -> float:
    """`Evidence.full_s`. least: in ln n. cores: NaN for any."""
    sum_ = 0.0
    for level in levels:
        on = isnan(cores) or level[CORES] == cores
        if on and level[FULL] > 0 and level[IN_FLIGHT_S] > 0 and log(level[IN_FLIGHT_S] / level[SECONDS]) >= least:
            sum_ += level[SECONDS]
    return sum_


@compiled
def longest_stay_s(levels: Floats) -> float:
    """`Evidence.longest_stay_s`."""
    longest = 0.0
    for level in levels:
        if level[COMPLETIONS] > 0:
            longest = max(longest, level[IN_FLIGHT_S] / level[COMPLETIONS])
    return longest


@compiled
def completions_at(levels: Floats, cores: float, sizes: Ints, step: float) -> Floats:
    """`Evidence.completions_at`. step: in ln n, within which a level is at a size."""
    completions = np.zeros(len(sizes))
    for level in levels:
        if level[SATURATED] == 0.0 or level[CORES] != cores:
            continue
        ln_n = log(level[IN_FLIGHT_S] / level[SECONDS])
        for at in range(len(sizes)):
            if abs(ln_n - log(sizes[at])) <= step:
                completions[at] += level[COMPLETIONS]
    return completions


@compiled
def has_all(levels: Floats, others: Floats) -> bool:
    """`Evidence.has_all`: whether there is a level of the same kind and step for each of the others."""
    for other in others:
        there = False
        for level in levels:
            same = level[CORES] == other[CORES] and level[FULL] == other[FULL]
            if same and level[SATURATED] == other[SATURATED] and level[STEP] == other[STEP]:
                there = True
                break
        if not there:
            return False
    return True


@compiled
def level_rows(
    levels: Floats, cores: float, dispersion: float, least: tuple[float, float], errors: tuple[float, float, float]
) -> Floats:
    """ln n, ln rate, variance, full and scale, shape (5, m), of the levels that count for these cores. least: seconds
    and completions. errors: of a saturated pool, of one that is not, and of one on another CPU limit."""
    rows, count = np.empty((5, len(levels))), 0
    for level in levels:
        of, completions, seconds, in_flight_s = level[CORES], level[COMPLETIONS], level[SECONDS], level[IN_FLIGHT_S]
        if seconds < least[0] or completions < least[1] or in_flight_s <= 0 or (of == 0.0) != (cores == 0.0):
            continue
        rows[0, count] = log(in_flight_s / seconds)
        rows[1, count] = log(completions / seconds)
        rows[2, count] = dispersion / completions + errors[0 if level[SATURATED] > 0 else 1] ** 2
        rows[3, count] = level[FULL]
        rows[4, count] = 1.0
        if of != cores:
            rows[2, count] += errors[2] ** 2
            rows[4, count] = of / cores
        count += 1
    return rows[:, :count].copy()


@compiled
def rounded_rows(
    ln_n: Floats, ln_rate: Floats, variance: Floats, steps: tuple[float, float, float, float], rough: float
) -> Floats:
    """ln n, ln rate and variance, shape (3, m). steps: of ln n, of the rate of a thread where its deviation is below
    `rough` and where it is not, in standard deviations as a power of 2; and of the standard deviation, in ln."""
    rows = np.empty((3, len(ln_n)))
    for row in range(len(ln_n)):
        ln_deviation = 0.5 * log(variance[row])
        step = 2.0 ** np.rint(ln_deviation / log(2.0))
        along = steps[0] * step
        up = steps[2 if variance[row] > rough * rough else 1] * step
        rows[0, row] = along * np.rint(ln_n[row] / along)
        rows[1, row] = rows[0, row] + up * np.rint((ln_rate[row] - ln_n[row]) / up)
        rows[2, row] = exp(2 * steps[3] * np.rint(ln_deviation / steps[3]))
    return rows
