"""Off-policy evaluation: the present value of each size, from the seconds in which it was in force.

Estimator: weighted (self-normalised) importance sampling. No policy drew sizes by chance with known odds, so the odds
are those within the present demand: a second with d requests has the weight

    w = exp(-(ln d - ln d_now)^2 / (2 x 0.2^2)) x 2^(-age / 600 s)        V(a) = sum of w r / sum of w, over a's seconds

Bound: Student's, one-sided, 95 %, on the difference to the size in force, with n = (sum w)^2 / sum w^2 effective
seconds, of which the correlation of one second with the next leaves (1 - rho) / (1 + rho). It holds for many seconds
(Thomas, Theocharous, Ghavamzadeh 2015 use it so), and is no bound for few, as the empirical Bernstein one is: that
needs about 900 seconds at each size to separate 1 % (7 ln 40 / 3 / 900 = 0.0096 besides the variance).

A size is not worse than the one in force where the bound allows a loss of at most 0.01 of reward. Both need five
effective seconds. The weights compare demand, since fewer requests make every size look better: there is no value for a
load that a size has not had.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sluice.pools.estimate.samples import Floats
from sluice.pools.learned.settings import LearnerSettings
from sluice.pools.learned.sizes import Ints
from sluice.pools.learned.trials import Trials

DEMAND_WIDTH, HALF_LIFE_S = 0.2, 600.0
LEAST_SECONDS, SURE, TOLERANCE = 5.0, 0.95, 0.01
# The least standard error of a mean of seconds.
LEAST_ERROR = 0.002
MOST_CORRELATED = 0.9


@dataclass(frozen=True)
class SizeEstimates:
    """For each of K sizes, shape (K,): the estimate, its standard error, and effective seconds, 0 where it was never in
    force."""

    mean: Floats
    error: Floats
    seconds: Floats

    def not_worse(self, current: int) -> Ints:
        """Indices of the sizes that may be chosen instead of number `current`, which is never among them."""
        from scipy.special import stdtrit

        enough = (self.seconds >= LEAST_SECONDS) & (self.seconds[current] >= LEAST_SECONDS)
        freedom = np.maximum(np.minimum(self.seconds, self.seconds[current]) - 1, 1)
        error = np.hypot(self.error, self.error[current])
        lower = self.mean - self.mean[current] - stdtrit(freedom, SURE) * error
        enough &= lower >= -TOLERANCE
        enough[current] = False
        candidates: Ints = np.flatnonzero(enough)
        return candidates


def evaluate(trials: Trials, asked_per_s: float, sizes: int, settings: LearnerSettings) -> SizeEstimates:
    """asked_per_s: the present demand. sizes: their number."""
    mean, error, seconds = np.zeros(sizes), np.full(sizes, np.inf), np.zeros(sizes)
    if len(trials) == 0 or asked_per_s <= 0:
        return SizeEstimates(mean, error, seconds)
    rewards, actions, at_s = trials.rewards(settings), trials.actions, trials.start_ms / 1e3
    off = np.log(np.maximum(trials.asked_per_s, 1e-3) / asked_per_s) / DEMAND_WIDTH
    weight = np.exp(-0.5 * off * off) * 0.5 ** ((at_s[-1] - at_s) / HALF_LIFE_S)
    left = _independent(rewards, actions, at_s)
    for action in np.unique(actions):
        w, r = weight[actions == action], rewards[actions == action]
        total = float(w.sum())
        if total < 1e-6:
            continue
        count = total**2 / float((w * w).sum()) * left
        mean[action] = float(w @ r) / total
        variance = float(w @ (r - mean[action]) ** 2) / total * count / max(count - 1, 0.5)
        error[action] = max(float(np.sqrt(variance / max(count, 1e-6))), LEAST_ERROR)
        seconds[action] = count
    return SizeEstimates(mean, error, seconds)


def _independent(rewards: Floats, actions: Ints, at_s: Floats) -> float:
    """What correlation leaves of n seconds: (1 - rho) / (1 + rho), rho from each second to the next of the same size.

    Worked: rho = 0.5 leaves a third.
    """
    off = rewards - (np.bincount(actions, rewards) / np.maximum(np.bincount(actions), 1))[actions]
    next_one = (np.diff(at_s) <= 1.001) & (np.diff(actions) == 0)
    variance = float(np.mean(off * off))
    if next_one.sum() < LEAST_SECONDS or variance <= 0:
        return 1.0
    rho = float(np.mean(off[1:][next_one] * off[:-1][next_one])) / variance
    rho = min(max(rho, 0.0), MOST_CORRELATED)
    return (1 - rho) / (1 + rho)
