"""Chooses the size to have next: the one with the highest expected completions, or one that is worth a look.

For each size n within reach, let m and v be the mean and variance of its gain in ln X over the size in force, with the
part in time there (below):

    score(n) = m + 10 x (share of the time in which the pool was full) x G(n)
    G(n)     = s f(-|m - best other m| / s),  f(z) = z Phi(z) + phi(z)

G is the knowledge gradient (Frazier, Powell, Dayanik 2008): how much better the best known size would be, on average,
after a look at n. s is the standard deviation that the look would take from v. At a size with evidence, a look can only
lessen the counting error of that evidence; without this rule two equal sizes would take turns for ever. Where
completions are few, that error stays above what a look asks for: 73 a second, over the 180 s that evidence lasts, tell
two sizes apart within 1.2 %. So a look at a size also waits until the one in force has stood for four times as long as
that one was seen: two equal sizes change every 12 minutes in the end. The way back from a look needs no certainty,
since the size that was left is known better: 0.4 % are enough, unless its evidence was forgotten. The factor 10 is the
number of looks' lengths for which the knowledge serves. Where the pool is not full, no size matters and nothing is
tried.

A look lasts until 2,000 completions are counted (2.2 %), at least 3 s and at most 30 s: 3 s of 190 a second are known
within 4 %, which decides nothing. Where the gain nearby is less certain, fewer suffice: a quarter of the deviation
there.

**Edges** (`belief/edge.py`): take a size between the largest that stood and the smallest that fell, and the chance c
that it falls. With the chance 1 - c it gains as the curve before the edge does, for ten looks. With the chance c it
loses as much as was lost there, for two looks: one until the pool has come back. c is 0.3 at most (but for the next
size). 3 s show whether it fell.

**Uncertainty**: between sizes with evidence the shapes alone are too sure, since a cliff may lie there. So a size loses
at least the expected gain of the size that may gain most: max of E[max(0, gain)] = s f(m / s). Worked: 5 % behind, give
or take 15 %: 0.15 f(-0.33) = 0.15 x 0.254 = 3.8 %; give or take 1 %: nothing.

An edge, worked: 20 stood, and completes as much more than 16 as it has threads more; 40 fell to a fifth. 24 is 0.24 of
the way, and worth 10 x 0.76 x 0.2 - 2 x 0.24 x 0.8 = 1.14; 22 is 0.11 of it: 10 x 0.89 x 0.1 - 0.18 = 0.71.

**In time**: requests that get a place stay n / X(n) (Little). A size at which that exceeds the SLO completes nothing
that counts: ln Phi((ln SLO - ln(n / X)) / 0.5) is added to m. Where callers' spans show N calls in flight, a size n up
to N lets N - n of them wait, and a call takes N / X(n) with its wait: least where X is highest. So of the sizes up to N
only those lose by it at which requests stay longer than the SLO: min(0, ln Phi + ln 2) is added, 0 from the SLO down.
Beyond N it is ln Phi as compared with N.

Worked, an SLO of 392 ms: 4 complete 28 a second, after 143 ms each, and 8 complete 28.1, after 285 ms. ln Phi is -0.02
of 4 and -0.30 of 8, so 4 seems better by a quarter. But where 10 call, each takes 357 or 356 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, inf, sqrt
from statistics import NormalDist

import numpy as np

from sluice.fast.worth import LEAST_GAIN, chosen, gradient, look_s, prospected
from sluice.pools.estimate.belief.evidence import TAU_SATURATED
from sluice.pools.estimate.belief.family import SIZES, Floats, Ints
from sluice.pools.estimate.belief.posterior import NONE, Gains, Posterior

NORMAL, LEAST_CHANCE = NormalDist(), 1e-12


@dataclass(frozen=True)
class Choice:
    """A size to have next. gain: mean gain in ln X; sure_by: that by its standard deviation. look: the size is tried,
    and not known to be better."""

    size: int
    gain: float
    sure_by: float
    look: bool


@dataclass(frozen=True)
class Situation:
    """What a choice depends on besides the belief.

    - full_share: of the newest seconds, 0..1.
    - since_change_s: age of the last change; another look does not cut a look short.
    - may_look: whether a look is allowed.
    - left: the size that was left for the look at the one in force.
    - queues: whether as many callers wait as the pool holds.
    """

    full_share: float
    since_change_s: float = inf
    may_look: bool = True
    left: int | None = None
    queues: bool = False


@dataclass(frozen=True)
class Outlook:
    """The belief's expectations of the legal sizes, by the gain that a choice uses.

    - best: the size of the highest mean. lower..upper: the sizes within 1 % of it.
    - loss: expected loss of the size in force against the true best one, as a part of that one's throughput. at_best:
      the same of `best`, which is the uncertainty. sure: how likely that is under 3 %.
    - beyond: the best of all sizes, where it is not legal and is better by 1 %; else None.
    - gain, sure_by: of `best` over the size in force, as in `Choice`.
    """

    best: int
    lower: int
    upper: int
    loss: float
    at_best: float = 0.0
    sure: float = 0.0
    beyond: int | None = None
    gain: float = 0.0
    sure_by: float = 0.0


@dataclass(frozen=True)
class Prospects:
    """The sizes within reach, shape (N,), with the mean and variance of their gain over the current one, which is among
    them.

    rate: expected completions per second at the current size, 0 without evidence. falls: the chance that the size is
    beyond an edge. smooth: the mean gain where it is not. lost: the loss in ln X where it is. outlook: over all legal
    sizes, reachable or not. expected: ln X of a full pool at each of `SIZES`, reachable or not; empty without evidence.
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
    expected: Floats = field(default_factory=lambda: NONE)


def prospects(
    now: Posterior,
    current: int,
    reach: tuple[int, int],
    slo_s: float,
    legal: tuple[int, int] = (1, 1_000_000),
    callers: int = 0,
) -> Prospects:
    """The prospects of the sizes of `reach`, which one change leads to. legal: the smallest and the largest legal size.
    callers: calls in flight, those that wait for a place among them; 0 where nobody knows them."""
    question = (current, *reach, slo_s, legal, callers)
    answer: Prospects | None = now.answers.get(question)
    if answer is None:
        answer = _prospects(now, current, reach, slo_s, legal, callers)
        now.answers.clear()
        now.answers[question] = answer
    return answer


def _prospects(
    now: Posterior, current: int, reach: tuple[int, int], slo_s: float, legal: tuple[int, int], callers: int
) -> Prospects:
    least, most = reach
    gains, known = now.gains(current, *((least, most) if least <= most else ())), len(now.rows) > 0
    sizes, at, (mean, variance, falls, smooth), numbers = prospected(
        gains.of_shape.T,
        (gains.mean, gains.variance, gains.falls, gains.smooth),
        gains.ln_rate_now,
        now.weight,
        gains.sizes,
        gains.current_at,
        reach,
        (min(least, legal[0]), max(most, legal[1])),
        # Without a row no response time is known.
        float(slo_s) if known else inf,
        callers,
        _before_the_edge(gains),
    )
    rate, lost, expected = 0.0, np.zeros(len(sizes)), NONE
    if known:
        ln_rate = float(now.weight @ gains.ln_rate_now)
        rate, expected = exp(ln_rate), gains.mean[: len(SIZES)] + ln_rate
        if now.edge is not None:
            lost = ln_rate - now.edge.fallen(np.log(sizes))
    outlook_now = Outlook(*numbers[:6], numbers[6] or None, *numbers[7:])
    return Prospects(sizes, at, mean, variance, rate, falls, smooth, lost, outlook_now, expected)


def outlook(now: Posterior, current: int, slo_s: float = inf, legal: tuple[int, int] = (1, 1_000_000)) -> Outlook:
    """The outlook over all legal sizes, reachable or not."""
    return prospects(now, current, (current, current), slo_s, legal).outlook


def _before_the_edge(gains: Gains) -> float:
    """How much more than the best known size the best one before an edge completes on average, in ln X.

    Worked: 20 stood and 40 fell, and completions grow as n: the edge is anywhere in ln 2, which is 0.35 on average.
    """
    if not gains.falls.any():
        return 0.0
    ascending = np.argsort(gains.sizes)
    smooth, falls = gains.smooth[ascending], gains.falls[ascending]
    best = np.maximum.accumulate(np.where(falls < 1, smooth, -np.inf))
    more = np.maximum(best - float(gains.mean.max()), 0.0)
    return float(np.diff(falls, append=1.0) @ more)


def choose(of: Prospects, here: Situation, completions_at: Callable[[Ints], Floats]) -> Choice | None:
    """Another size, or None where none is worth it. completions_at: of the full pool at each size, (N,) to (N,)."""
    at, look = chosen(
        of.sizes,
        of.current_at,
        (of.mean, of.variance),
        (of.falls, of.smooth, of.lost),
        of.rate,
        completions_at(of.sizes),
        here.full_share,
        here.since_change_s,
        here.may_look,
        here.queues,
        here.left or 0,
        TAU_SATURATED,
    )
    if at < 0:
        return None
    return Choice(int(of.sizes[at]), float(of.mean[at]), _sure_by(of, at), look)


def _sure_by(of: Prospects, at: int) -> float:
    """How surely a size gains, in standard deviations. Towards an edge its mean holds the fall as well, which no normal
    deviation expresses: there it is the deviation that is as likely as that the size gains.

    Worked: 4 % fall; 5 % are gained where it stands, give or take 2.7 %. 0.96 x Phi(1.8) = 0.93, as Phi(1.44).
    """
    deviation = sqrt(float(of.variance[at]) + 1e-12)
    falls = float(of.falls[at])
    if falls <= 0:
        return float(of.mean[at]) / deviation
    gains = (1 - falls) * NORMAL.cdf(float(of.smooth[at]) / deviation)
    return NORMAL.inv_cdf(min(max(gains, LEAST_CHANCE), 1 - LEAST_CHANCE))


def likeliest(of: Prospects) -> Choice | None:
    """The size that is best on average, however uncertain, for a pool that has nothing to lose."""
    best = int(of.mean.argmax())
    gain = float(of.mean[best])
    if best == of.current_at or gain <= LEAST_GAIN:
        return None
    return Choice(int(of.sizes[best]), gain, gain / float(np.sqrt(of.variance[best] + 1e-12)), look=True)


def knowledge_gradient(mean: Floats, learnt: Floats) -> Floats:
    """How much the best mean grows, on average, when the deviation of one size falls by `learnt`; shape (N,) each.

    Worked: two equal sizes, 1 % learnt: 0.01 phi(0) = 0.4 %. One 3 % behind: 0.01 f(-3) = 0.0004 %.
    """
    return gradient(mean, learnt)


def _look_s(rate: float, deviation: float) -> float:
    """Seconds that a look takes. deviation: of the least certain gain nearby.

    Worked: 500 completions a second 4 s, 190 a second 10.5 s. Where the gain is known within 16 %, 625 completions
    suffice, and 70 a second take 9 s.
    """
    return look_s(float(rate), deviation)
