"""The loops of `worth.py` over sizes, compiled by Numba as the loops over shapes are (`belief/compiled.py`).

`worth.py` has the formulas. Values have a row for each size and a column for each shape.
"""

from __future__ import annotations

from math import erfc, exp, expm1, log, log1p, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from sluice.fast.belief import Floats, Ints, compiled

# A move has to gain 0.4 %, and 0.67 of a standard error.
LEAST_GAIN, SURE_BY = 0.004, 0.67
# Where as many callers wait as the pool holds: a look may take three more, up to twice the size; and a smaller size
# needs 90 % probability.
QUEUE_MORE, QUEUE_FACTOR, QUEUE_SURE_BY = 3.0, 2.0, 1.28
# A look: within a factor 1.3, or a thread more or less, at an expected loss under 2 %, where 1 % may be gained (one in
# ten: 1.28 deviations).
LOOK_FACTOR, LOOK_LOSS, LOOK_GAIN, ONE_IN_TEN = 1.3, 0.02, 0.01, 1.28
# From FULL_SHARE on a pool counts as full. Below it only a size that is better by 3 % with 90 % probability is taken.
FULL_SHARE, LIGHT_GAIN, LIGHT_SURE_BY = 0.5, 0.03, 1.28
# From LOOK_SHARE on a look can show something.
LOOK_SHARE = 0.9
LOOKS_SERVED, LOOK_COMPLETIONS, SHORTEST_LOOK_S, LONGEST_LOOK_S = 10.0, 2_000.0, 3.0, 30.0
# A size is looked at again once the one in force has stood for so many times as long as that one was seen.
AGAIN = 4.0
# A look ends earlier once the size is known so many times better than the gain that is open nearby.
TIMES_KNOWN = 4.0
LATENCY_SPREAD = 0.5
# The largest chance of a fall that a look may take. A fall costs two looks, since the pool needs as long again to come
# back.
EDGE_CHANCE, COMES_BACK = 0.3, 2.0
# From so many deviations on a size is in time: ln Phi(4) = -3e-5.
IN_TIME = 4.0
# ln 2: half of the requests in time, which is as many as are where the mean stay is the SLO.
HALF = log(2.0)
# Where no size has this part in time, all completions count.
HALF_IN_TIME = 0.5
# A loss in ln X that counts as none.
NEARLY_BEST = 0.03
# Below so many deviations erfc nears the smallest float; a series has the same value.
TAIL = -36.0
# Points of the table of ln Phi, in one deviation, and the terms about each: exact within 1e-12.
POINTS, TERMS = 16, 6
# Sizes within this of the best mean, in ln X, form the range of the best.
RANGE = 0.01
ROOT_2, PHI_0, LN_ROOT_2_PI = sqrt(2.0), 1 / sqrt(2 * pi), 0.5 * log(2 * pi)

Best = tuple[int, int, int, float, float, float, int, float, float]
"""Fields of `Outlook`; 0 where nothing is beyond."""


def _ln_phi(z: float) -> float:
    """ln Phi(z). Worked: ln Phi(0) = ln 0.5; ln Phi(-40) = -800 - ln 40 - 0.92 - 1 / 1600 = -804.61."""
    if z > -1:
        return log1p(-0.5 * erfc(z / ROOT_2))
    if z > TAIL:
        return log(0.5 * erfc(-z / ROOT_2))
    part = 1 / (z * z)
    return -0.5 * z * z - log(-z) - LN_ROOT_2_PI + log1p(-part * (1 - 3 * part * (1 - 5 * part)))


# The table below takes the plain one: a compiled one would be loaded whenever this module is imported.
ln_phi = compiled(_ln_phi)


def _ln_phi_about() -> Floats:
    """Taylor coefficients of ln Phi about each point from TAIL to IN_TIME, (n, TERMS). Its derivative is
    r = phi / Phi, with r' = -r (z + r)."""
    about = np.empty((round((IN_TIME - TAIL) * POINTS) + 1, TERMS))
    for at, terms in enumerate(about):
        z = TAIL + at / POINTS
        terms[0] = _ln_phi(z)
        ratio = [exp(-0.5 * z * z - LN_ROOT_2_PI - terms[0])]
        for k in range(TERMS - 2):
            before = ratio[k - 1] if k else 0.0
            ratio.append(-(z * ratio[k] + before + sum(ratio[j] * ratio[k - j] for j in range(k + 1))) / (k + 1))
        terms[1:] = ratio / np.arange(1, TERMS)
    return about


LN_PHI_ABOUT = _ln_phi_about()


@compiled
def where_it_gains(mean: float, deviation: float) -> float:
    """E[max(0, x)] of a normal x: s f(m / s) with f(z) = z Phi(z) + phi(z)."""
    z = mean / deviation
    return deviation * (z * 0.5 * erfc(-z / ROOT_2) + exp(-0.5 * z * z) * PHI_0)


@compiled
def _ascending(sizes: Ints) -> Ints:
    """Indices of the sizes, ascending in size. All input sizes but the last few ascend."""
    indices = np.arange(len(sizes))
    for index in range(1, len(sizes)):
        place = index
        while place > 0 and sizes[indices[place - 1]] > sizes[index]:
            indices[place] = indices[place - 1]
            place -= 1
        indices[place] = index
    return indices


@compiled
def _in_time(gain: Floats, here: Floats, weight: Floats, ln_slack: float, spared: float) -> float:
    """ln of the part in time at a size, over the shapes (s,), plus `spared`, 0 at most. ln_slack: ln of the SLO divided
    by the size. spared: 0, or HALF."""
    chance, loses_below = 0.0, 0.0 if spared > 0 else IN_TIME
    for shape in range(len(weight)):
        early = (gain[shape] + here[shape] + ln_slack) / LATENCY_SPREAD
        if early <= TAIL:
            chance += weight[shape] * (ln_phi(early) + spared)
        elif early < loses_below:
            at = int((early - TAIL) * POINTS + 0.5)
            off, terms, ln = early - TAIL - at / POINTS, LN_PHI_ABOUT[at], 0.0
            for k in range(TERMS - 1, -1, -1):
                ln = ln * off + terms[k]
            chance += weight[shape] * min(ln + spared, 0.0)
    return chance


@compiled
def _called(sizes: Ints, callers: int) -> int:
    """Index of the largest size that `callers` fill, -1 where they fill none."""
    best = -1
    for size in range(len(sizes)):
        if sizes[size] <= callers and (best < 0 or sizes[size] > sizes[best]):
            best = size
    return best


@compiled
def _timely(
    gain: Floats,
    moments: Floats,
    here: Floats,
    weight: Floats,
    sizes: Ints,
    order: Ints,
    at: int,
    reach: tuple[int, int],
    slo_s: float,
    callers: int,
) -> None:
    """Adds the part in time to the mean, the first row of moments, whose columns are in `order`."""
    top, called, beyond = -np.inf, _called(sizes, callers), 0.0
    if called >= 0:
        ln_slack = log(slo_s) - log(sizes[called])
        beyond = _in_time(gain[called], here, weight, ln_slack, HALF)
        beyond -= _in_time(gain[called], here, weight, ln_slack, 0.0)
    spared, more = np.where(sizes <= callers, HALF, 0.0), np.where(sizes <= callers, 0.0, beyond)
    for place, size in enumerate(order):
        if size == at or reach[0] <= sizes[size] <= reach[1]:
            ln_slack = log(slo_s) - log(sizes[size])
            moments[0, place] += _in_time(gain[size], here, weight, ln_slack, spared[size]) + more[size]
            top = max(top, moments[0, place])
    for place, size in enumerate(order):
        if size != at and not reach[0] <= sizes[size] <= reach[1] and moments[0, place] >= top - RANGE:
            ln_slack = log(slo_s) - log(sizes[size])
            moments[0, place] += _in_time(gain[size], here, weight, ln_slack, spared[size]) + more[size]
    moments[0] -= _in_time(gain[at], here, weight, log(slo_s) - log(sizes[at]), spared[at]) + more[at]


@compiled
def prospected(
    gain: Floats,
    of_all: tuple[Floats, Floats, Floats, Floats],
    here: Floats,
    weight: Floats,
    sizes: Ints,
    at: int,
    reach: tuple[int, int],
    legal: tuple[int, int],
    slo_s: float,
    callers: int,
    hope: float,
) -> tuple[Ints, int, Floats, Best]:
    """The sizes within reach and the one at `at`, ascending, (n,); the index of that one; their moments, (4, n), with
    the part in time in the mean; and the outlook over the legal sizes and that one.

    A size out of reach that is behind the best one within reach has no part in time added. It is neither the best nor
    within the range; its uncertainty (`outlooked`) is counted a little too high.

    gain: (N, s), over the size at `at`. of_all: mean and variance of the gain, and its falls and smooth, (N,) each.
    here: ln X at that size, (s,). callers: of the sizes that they fill, only those at which requests stay longer than
    the SLO lose by it. Beyond these sizes the part in time is that relative to the largest of them. hope: how much
    more, in ln X, a size before an edge completes.
    """
    order = _ascending(sizes)
    moments = np.empty((4, len(sizes)))
    for row, of in enumerate(of_all):
        moments[row] = of[order]
    _timely(gain, moments, here, weight, sizes, order, at, reach, slo_s, callers)
    places, near, count = np.empty(len(sizes), dtype=np.int64), np.empty(len(sizes), dtype=np.bool_), 0
    current_at = 0
    for place, size in enumerate(order):
        near[place] = size == at or legal[0] <= sizes[size] <= legal[1]
        if size == at or reach[0] <= sizes[size] <= reach[1]:
            if size == at:
                current_at = count
            places[count] = place
            count += 1
    outlook = outlooked(gain, moments, weight, sizes, order, near, hope)
    places = places[:count]
    return sizes[order[places]], current_at, moments[:, places], outlook


@compiled
def outlooked(
    gain: Floats, moments: Floats, weight: Floats, sizes: Ints, order: Ints, near: NDArray[np.bool_], hope: float
) -> Best:
    """gain: of sizes by shapes, (N, s). moments: their mean and variance in the first two rows, columns in `order`.
    near: which of these count, (N,). hope: how much more, in ln X, a size before an edge completes."""
    mean, variance = moments[0], moments[1]
    top, at = int(mean.argmax()), -1
    for place in range(len(order)):
        if near[place] and (at < 0 or mean[place] > mean[at]):
            at = place
    lower = upper = sizes[order[at]]
    loss = at_best = 0.0
    most = np.full(len(weight), -np.inf)
    for place, size in enumerate(order):
        if not near[place]:
            continue
        if mean[place] >= mean[at] - RANGE:
            lower, upper = min(lower, sizes[size]), max(upper, sizes[size])
        # Steps count as independent: the uncertainty between the size in force and the best one is in both.
        loss = max(loss, where_it_gains(mean[place], sqrt(variance[place] + 1e-12)))
        from_best = sqrt(abs(variance[place] - variance[at]) + 1e-12)
        at_best = max(at_best, where_it_gains(mean[place] - mean[at], from_best))
        line = gain[size]
        for shape in range(len(most)):
            most[shape] = max(most[shape], line[shape])
    by_shape = best_by_shape = sure = 0.0
    best = gain[order[at]]
    for shape in range(len(most)):
        lost = most[shape] - best[shape]
        by_shape -= weight[shape] * expm1(-most[shape] - hope)
        best_by_shape -= weight[shape] * expm1(-lost - hope)
        if lost < NEARLY_BEST:
            sure += weight[shape]
    loss, at_best = max(by_shape, -expm1(-loss)), max(best_by_shape, -expm1(-at_best))
    beyond = sizes[order[top]] if not near[top] and mean[top] - mean[at] > RANGE else 0
    sure_by = mean[at] / sqrt(variance[at] + 1e-12)
    return sizes[order[at]], lower, upper, loss, at_best, sure, beyond, mean[at], sure_by


@compiled
def gradient(mean: Floats, learnt: Floats) -> Floats:
    """`worth.knowledge_gradient`."""
    top = second = -np.inf
    for value in mean:
        if value > top:
            top, second = value, top
        elif value > second:
            second = value
    if len(mean) == 1:
        second = top
    slopes = np.empty(len(mean))
    for size in range(len(mean)):
        other = second if mean[size] >= top else top
        slopes[size] = where_it_gains(-abs(mean[size] - other), max(learnt[size], 1e-9))
    return slopes


@compiled
def look_s(rate: float, deviation: float) -> float:
    """`worth._look_s`."""
    if rate <= 0:
        return LONGEST_LOOK_S
    needed = min(LOOK_COMPLETIONS, (TIMES_KNOWN / max(deviation, 1e-6)) ** 2)
    return min(max(needed / rate, SHORTEST_LOOK_S), LONGEST_LOOK_S)


@compiled
def _learnt(variance: Floats, looked: float, completions: Floats, at: int, error: float) -> Floats:
    """Standard deviation that a look of so many completions at each size would take from its gain, (N,). completions:
    of the size until now. error: what more completions do not lessen."""
    noise, deviations = 1.0 / max(looked, 1.0) + error**2, np.empty(len(variance))
    of_here = 1.0 / completions[at] if completions[at] > 0 else 0.01
    for size in range(len(variance)):
        deviations[size] = variance[size] / sqrt(variance[size] + noise)
        if completions[size] > 0:
            deviations[size] = min(deviations[size], sqrt(1.0 / completions[size] + of_here))
    return deviations


@compiled
def _edge(sizes: Ints, at: int, falls: Floats, smooth: Floats, lost: Floats) -> int:
    """Index of the size before an edge that is worth a look, or -1."""
    best, most = -1, 0.0
    for size in range(at + 1, len(sizes)):
        if falls[size] <= 0 or falls[size] >= 1 or (falls[size] > EDGE_CHANCE and sizes[size] != sizes[at] + 1):
            continue
        worth = LOOKS_SERVED * (1 - falls[size]) * expm1(smooth[size])
        worth += COMES_BACK * falls[size] * expm1(-lost[size])
        if worth > most:
            best, most = size, worth
    return best


@compiled
def chosen(
    sizes: Ints,
    at: int,
    gains: tuple[Floats, Floats],
    edge: tuple[Floats, Floats, Floats],
    rate: float,
    completions: Floats,
    full_share: float,
    since_change_s: float,
    may_look: bool,
    queues: bool,
    left: int,
    error: float,
) -> tuple[int, bool]:
    """Index of the size that is worth having, -1 where none is; and whether it is a look.

    gains: mean and variance, (N,) each. edge: `Prospects.falls`, `smooth` and `lost`. completions: at each size.
    queues: as many callers wait as the pool holds. left: the size that was left for the look at the one in force, 0 for
    none. error: what more completions do not lessen.
    """
    mean, variance = gains
    deviation, current = np.sqrt(variance + 1e-12), sizes[at]
    near, widest = np.zeros(len(sizes), dtype=np.bool_), 0.0
    for size in range(len(sizes)):
        below = sizes[size] >= min(current / LOOK_FACTOR, current - 1.0)
        if below and sizes[size] <= max(current * LOOK_FACTOR, current + 1.0):
            near[size], widest = True, max(widest, deviation[size])
        elif queues and current < sizes[size] <= min(current + QUEUE_MORE, QUEUE_FACTOR * current):
            near[size] = True
    needed_s = look_s(rate, widest)
    learnt = _learnt(variance, rate * needed_s, completions, at, error)
    score = mean + LOOKS_SERVED * full_share * gradient(mean, learnt)
    gain, sure_by = (LIGHT_GAIN, LIGHT_SURE_BY) if full_share < FULL_SHARE else (LEAST_GAIN, SURE_BY)
    may_look = may_look and full_share >= LOOK_SHARE
    better = look = -1
    for size in range(len(sizes)):
        if size == at:
            continue
        needed = max(sure_by, QUEUE_SURE_BY) if queues and sizes[size] < current else sure_by
        sure = mean[size] > needed * deviation[size]
        if sizes[size] == left and completions[size] > 0 and full_share >= FULL_SHARE and since_change_s >= needed_s:
            sure = True
        if mean[size] > gain and sure and (better < 0 or mean[size] > mean[better]):
            better = size
        seen_s = completions[size] / rate if rate > 0 else 0.0
        legal = near[size] and edge[0][size] <= EDGE_CHANCE and mean[size] > -LOOK_LOSS
        if may_look and since_change_s >= max(needed_s, AGAIN * seen_s) and legal:
            open_yet = mean[size] + ONE_IN_TEN * learnt[size] > LOOK_GAIN
            if open_yet and (look < 0 or score[size] > score[look]):
                look = size
    if may_look and since_change_s >= SHORTEST_LOOK_S and better < 0:
        best = _edge(sizes, at, edge[0], edge[1], edge[2])
        if best >= 0:
            return best, True
    if better >= 0 and mean[better] > LEAST_GAIN + max(0.0, mean[at]):
        return better, False
    if look >= 0 and score[look] > LEAST_GAIN + max(0.0, score[at]):
        return look, True
    return -1, False


@compiled
def least_enough(
    sizes: Ints, expected: Floats, current: int, slo_s: float, peak_per_s: float, best_share: float
) -> int:
    """`allowed.least_needed`. sizes, expected: ascending, with ln X of a full pool, (N,) each. best_share: of the
    completions of the best size."""
    does = np.exp(expected[sizes <= current])
    in_time, most = np.ones(len(does)), 0.0
    if slo_s < np.inf:
        for at in range(len(does)):
            in_time[at] = exp(ln_phi((log(slo_s) - log(sizes[at]) + log(does[at])) / LATENCY_SPREAD))
            most = max(most, in_time[at])
    if most >= HALF_IN_TIME:
        does *= in_time
    enough = min(peak_per_s, best_share * does.max())
    for at in range(len(does)):
        if does[at] >= enough:
            return int(sizes[at])
    return current
