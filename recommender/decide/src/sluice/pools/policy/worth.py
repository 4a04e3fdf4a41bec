"""Which size to have next: the one that the belief says completes most, or one that is worth a look.

For each size n within reach, with m and v the mean and variance of its gain in ln X over the size in force, and of what
is in time there (below):

    score(n) = m + 10 x (share of the time in which the pool was full) x G(n)
    G(n)     = s f(-|m - best other m| / s),  f(z) = z Phi(z) + phi(z)

G is the knowledge gradient (Frazier, Powell, Dayanik 2008): by how much better the best known size would be, on
average, after a look at n; s is the standard deviation that the look would take from v. At a size that was in force
before, only the counting error of what was seen there can still be taken: without that, two sizes that are alike take
turns for ever. The factor 10 is how many looks long the knowledge serves; where the pool is not full, no size matters
and nothing is tried. A look lasts until 2,000 completions are counted (2.2 %), at least 3 s and at most 30 s: 3 s of
190 a second are known within 4 %, which decides nothing. Where more than that is open nearby, fewer do: a quarter of
the deviation there.

**Edges** (`belief/edge.py`): a size between the largest that stood and the smallest that fell gains what the curve
before says with the chance 1 - c for as long as ten looks, and loses what was lost there for one with the chance c,
which is 0.3 at most (but for the next size). Whether it fell is seen in 3 s.

**In time**: requests that find a place stay n / X(n) (Little). A size at which that is over the SLO completes nothing
that counts: ln Phi((ln SLO - ln(n / X)) / 0.5) is added to m.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.belief.evidence import TAU_SATURATED
from sluice.pools.estimate.belief.family import Floats, Ints
from sluice.pools.estimate.belief.posterior import Gains, Posterior

# A move has to gain 0.4 %, and to be likelier right than wrong by two thirds of a standard error.
LEAST_GAIN, SURE_BY = 0.004, 0.67
# A look: within a factor 1.3, or a thread more or less, at an expected loss under 2 %, where 1 % may be gained (one in
# ten: 1.28 deviations).
LOOK_FACTOR, LOOK_LOSS, LOOK_GAIN, ONE_IN_TEN = 1.3, 0.02, 0.01, 1.28
# From here on a pool counts as full. Below, only a size that is better by 3 % with 90 % probability is moved to.
FULL_SHARE, LIGHT_GAIN, LIGHT_SURE_BY = 0.5, 0.03, 1.28
# And from here on what is looked at can be seen.
LOOK_SHARE = 0.9
LOOKS_SERVED, LOOK_COMPLETIONS, SHORTEST_LOOK_S, LONGEST_LOOK_S = 10.0, 2_000.0, 3.0, 30.0
# Or until the size is known so many times better than what may be gained nearby.
TIMES_KNOWN = 4.0
LATENCY_SPREAD = 0.5
# Chance to fall over an edge in a look, which lasts as long again until the pool has come back.
EDGE_CHANCE, COMES_BACK = 0.3, 2.0
# From so many deviations on a size is in time: ln Phi(4) = -3e-5.
IN_TIME = 4.0
# Of the standard normal density at 0.
PHI_0 = 1 / np.sqrt(2 * np.pi)
# A loss, in ln X, that nobody would call one.
NEARLY_BEST = 0.03


@dataclass(frozen=True)
class Choice:
    """gain and sure_by: mean gain in ln X, and that by its standard deviation. look: tried, not known to be better."""

    size: int
    gain: float
    sure_by: float
    look: bool


@dataclass(frozen=True)
class Outlook:
    """best: the size of the highest mean; lower..upper: the sizes within 1 % of it; loss: expected loss of the
    size in force against what turns out best, as a part of that one's throughput; at_best: the same of `best`, which is
    what is not known; sure: how likely that is under 3 %."""

    best: int
    lower: int
    upper: int
    loss: float
    at_best: float = 0.0
    sure: float = 0.0


@dataclass(frozen=True)
class Prospects:
    """Of the sizes within reach, shape (N,), over the current one, which is among them: mean and variance of the gain.

    rate: completions a second that are expected at the current size, 0 where nothing was seen. falls: the chance that
    the size is beyond an edge; smooth: the mean gain where it is not; lost: in ln X, where it is. outlook: over all
    sizes, reachable or not.
    """

    sizes: Ints
    current_at: int
    mean: Floats
    variance: Floats
    rate: float
    falls: Floats
    smooth: Floats
    lost: Floats
    outlook: Outlook


def prospects(now: Posterior, current: int, least: int, most: int, slo_s: float) -> Prospects:
    """Of the sizes from least to most."""
    asked = (current, least, most, slo_s)
    found: Prospects | None = now.answers.get(asked)
    if found is None:
        found = _prospects(now, *asked)
        now.answers.clear()
        now.answers[asked] = found
    return found


def _prospects(now: Posterior, current: int, least: int, most: int, slo_s: float) -> Prospects:
    gains = now.gains(current, *((least, most) if least <= most else ()))
    reach = (gains.sizes >= least) & (gains.sizes <= most)
    reach[gains.current_at] = True
    within = np.flatnonzero(reach)
    within = within[np.argsort(gains.sizes[within])]
    at = int((within == gains.current_at).argmax())
    mean, rate, lost = gains.mean[within], 0.0, np.zeros(len(within))
    if len(now.rows) > 0:
        late = _late(gains.of_shape[:, within] + gains.ln_rate_now[:, None], gains.sizes[within], slo_s)
        late = now.weight @ late
        mean += late - late[at]
        ln_rate = float(now.weight @ gains.ln_rate_now)
        rate = float(np.exp(ln_rate))
        if now.edge is not None:
            lost = ln_rate - now.edge.fallen(np.log(gains.sizes[within]))
    return Prospects(
        gains.sizes[within],
        at,
        mean,
        gains.variance[within],
        rate,
        gains.falls[within],
        gains.smooth[within],
        lost,
        _outlook(now, gains),
    )


def outlook(now: Posterior, current: int) -> Outlook:
    """Over all sizes, reachable or not."""
    return _outlook(now, now.gains(current))


def _outlook(now: Posterior, gains: Gains) -> Outlook:
    near = gains.sizes[gains.mean >= gains.mean.max() - 0.01]
    most, at = gains.of_shape.max(axis=1), int(gains.mean.argmax())
    lost = most - gains.of_shape[:, at]
    # As of steps that are independent: what is not known between the size in force and the best one is in both.
    from_best = np.abs(gains.variance - gains.variance[at])
    hope = _before_the_edge(gains)
    return Outlook(
        best=int(gains.sizes[at]),
        lower=int(near.min()),
        upper=int(near.max()),
        loss=max(float(now.weight @ -np.expm1(-most - hope)), _missed(gains.mean, gains.variance)),
        at_best=max(float(now.weight @ -np.expm1(-lost - hope)), _missed(gains.mean - gains.mean[at], from_best)),
        sure=float(now.weight @ (lost < NEARLY_BEST)),
    )


def _before_the_edge(gains: Gains) -> float:
    """How much more than the best size known, in ln X, the best one before an edge does on average.

    Worked: 20 stood and 40 fell, and what is done grows as n: the edge is anywhere in ln 2, which is 0.35 on average.
    """
    if not gains.falls.any():
        return 0.0
    ascending = np.argsort(gains.sizes)
    smooth, falls = gains.smooth[ascending], gains.falls[ascending]
    best = np.maximum.accumulate(np.where(falls < 1, smooth, -np.inf))
    more = np.maximum(best - float(gains.mean.max()), 0.0)
    return float(np.diff(falls, append=1.0) @ more)


def _missed(gain: Floats, variance: Floats) -> float:
    """What the size that may gain most would, on average, where it gains: max of E[max(0, gain)], as a part.

    Between sizes that were in force the shapes alone are too sure: a cliff may lie there. Worked: 5 % behind, give or
    take 15 %: 0.15 f(-0.33) = 0.15 x 0.254 = 3.8 %; give or take 1 %: nothing.
    """
    return float(-np.expm1(-_where_it_gains(gain, np.sqrt(variance + 1e-12)).max()))


def _where_it_gains(mean: Floats, deviation: Floats) -> Floats:
    """E[max(0, x)] of normal x, shape (N,) each: s f(m / s) with f(z) = z Phi(z) + phi(z)."""
    from scipy.special import ndtr

    z = mean / deviation
    found: Floats = deviation * (z * ndtr(z) + np.exp(-0.5 * z * z) * PHI_0)
    return found


def choose(
    of: Prospects,
    full_share: float,
    seen: Callable[[Ints], Floats],
    since_change_s: float = float("inf"),
    may_look: bool = True,
    dispersion: float = 1.0,
) -> Choice | None:
    """Another size, or None where none is worth it.

    full_share: of the newest seconds, 0..1. seen: completions of the full pool at each size, (N,) to (N,).
    since_change_s: age of the last change: a look is not cut short by another one.
    """
    sizes, current_at, mean, variance = of.sizes, of.current_at, of.mean, of.variance
    current = int(sizes[current_at])
    deviation = np.sqrt(variance + 1e-12)
    near = (sizes <= max(current * LOOK_FACTOR, current + 1)) & (sizes >= min(current / LOOK_FACTOR, current - 1))
    look_s = _look_s(of.rate, float(deviation[near].max()), dispersion)
    counts = seen(sizes)
    learnt = _learnt(variance, of.rate * look_s, counts, current_at, dispersion)
    score = mean + LOOKS_SERVED * full_share * knowledge_gradient(mean, learnt)

    better = (mean > LEAST_GAIN) & (mean > SURE_BY * deviation)
    look = np.zeros(len(sizes), dtype=bool)
    may_look = may_look and full_share >= LOOK_SHARE
    if full_share < FULL_SHARE:
        better = (mean > LIGHT_GAIN) & (mean > LIGHT_SURE_BY * deviation)
    if may_look and since_change_s >= look_s:
        look = near & (mean > -LOOK_LOSS) & (mean + ONE_IN_TEN * learnt > LOOK_GAIN)
    better[current_at] = look[current_at] = False
    if may_look and since_change_s >= SHORTEST_LOOK_S and not better.any():
        edge = _edge(of)
        if edge is not None:
            return Choice(int(sizes[edge]), float(mean[edge]), float(mean[edge] / deviation[edge]), look=True)
    for allowed, by in ((better, mean), (look, score)):
        if allowed.any():
            best = int(np.flatnonzero(allowed)[np.argmax(by[allowed])])
            if by[best] > LEAST_GAIN + max(0.0, float(by[current_at])):
                sure_by = float(mean[best] / deviation[best])
                return Choice(int(sizes[best]), float(mean[best]), sure_by, look=by is score)
    return None


def likeliest(of: Prospects) -> Choice | None:
    """The size that is the best on average, however sure: where nothing can be lost."""
    best = int(of.mean.argmax())
    gain = float(of.mean[best])
    if best == of.current_at or gain <= LEAST_GAIN:
        return None
    return Choice(int(of.sizes[best]), gain, gain / float(np.sqrt(of.variance[best] + 1e-12)), look=True)


def _edge(of: Prospects) -> int | None:
    """Where the size before an edge stands that is worth a look, or None.

    Worked: 20 stood, and completes as much more than 16 as it has threads more; 40 fell to a fifth. 24 is 0.24 of the
    way, and worth 10 x 0.76 x 0.2 - 2 x 0.24 x 0.8 = 1.14; 22 is 0.11 of it: 10 x 0.89 x 0.1 - 0.18 = 0.71.
    """
    worth = LOOKS_SERVED * (1 - of.falls) * np.expm1(of.smooth) + COMES_BACK * of.falls * np.expm1(-of.lost)
    next_one = of.sizes == of.sizes[of.current_at] + 1
    worth[(of.falls <= 0) | ((of.falls > EDGE_CHANCE) & ~next_one) | (of.falls >= 1)] = 0.0
    worth[: of.current_at + 1] = 0.0
    best = int(worth.argmax())
    return best if worth[best] > 0 else None


def knowledge_gradient(mean: Floats, learnt: Floats) -> Floats:
    """By how much the best mean grows, on average, when one is known better by `learnt`; shape (N,) each.

    Worked: two sizes alike, 1 % learnt: 0.01 phi(0) = 0.4 %. One 3 % behind: 0.01 f(-3) = 0.0004 %.
    """
    top = float(mean.max())
    second = float(np.partition(mean, -2)[-2]) if len(mean) > 1 else top
    other = np.where(mean >= top, second, top)
    spread = np.maximum(learnt, 1e-9)
    return _where_it_gains(-np.abs(mean - other), spread)


def _late(ln_rate: Floats, sizes: Ints, slo_s: float) -> Floats:
    """ln of the part that is in time at each size, by each shape: shape (s, N) as ln_rate."""
    from scipy.special import log_ndtr

    early: Floats = ln_rate + (np.log(slo_s) - np.log(sizes))
    early /= LATENCY_SPREAD
    late: Floats = np.zeros(early.shape)
    near = early < IN_TIME
    late[near] = log_ndtr(early[near])
    return late


def _look_s(rate: float, deviation: float, dispersion: float) -> float:
    """Seconds that a look takes; deviation: of the gain that is least known nearby.

    Worked: 500 completions a second 4 s, 190 a second 10.5 s; where the gain is known within 16 %, 625 completions are
    enough, and 70 a second take 9 s.
    """
    if rate <= 0:
        return LONGEST_LOOK_S
    needed = min(LOOK_COMPLETIONS, (TIMES_KNOWN / max(deviation, 1e-6)) ** 2)
    return float(min(max(needed * dispersion / rate, SHORTEST_LOOK_S), LONGEST_LOOK_S))


def _learnt(variance: Floats, completions: float, seen: Floats, current_at: int, dispersion: float) -> Floats:
    """Standard deviation that a look of so many completions at each size would take from its gain; seen: there."""
    noise = dispersion / max(completions, 1.0) + TAU_SATURATED**2
    learnt: Floats = variance / np.sqrt(variance + noise)
    of_here = dispersion / seen[current_at] if seen[current_at] else 0.01
    visited: NDArray[np.bool_] = seen > 0
    learnt[visited] = np.minimum(learnt[visited], np.sqrt(dispersion / seen[visited] + of_here))
    return learnt
