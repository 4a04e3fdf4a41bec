"""Who sizes the pool once a second: the network with and without speed-up, and the rivals of uConAdapter's figure 7.

Each sees the same: state (TPR, LR, RU) and reward of whole seconds as `sluice.pools.learned.measure` has them, and may
have the same sizes. What they name is clamped by the guard (`steps.guarded`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bench.dqn.ddpg import Ddpg
from bench.dqn.steps import BOUNDS, Sizer
from sluice.pools.learned.agent import Agent
from sluice.pools.learned.condition import WIDTH, Condition, encode
from sluice.pools.learned.measure import ServiceWindows, measured, seconds
from sluice.pools.learned.settings import SETTINGS, LearnerSettings
from sluice.pools.learned.sizes import grid, nearest
from sluice.pools.learned.trials import Trials
from testbed.fine import PoolWindows
from testbed.single.run import FastRun
from testbed.tiers.run import Floats

SIZES = grid(*BOUNDS)
AS_PRINTED = replace(SETTINGS, double=False, steps_ahead=1, repeats=1)
"""Algorithm 1, a gradient step for each transition."""


def windows_of(seen: PoolWindows) -> ServiceWindows:
    """Of one pool, on one instance."""
    n, length_s = len(seen.sizes), seen.length_ns / 1e9
    start_ms = (seen.since_ns + np.arange(n) * seen.length_ns) // 1_000_000
    in_flight = seen.own.busy_ns / seen.length_ns
    system = np.maximum(seen.judge.busy_ns / seen.length_ns, in_flight)
    return ServiceWindows(
        start_ms, in_flight, system, seen.own.completions.astype(float), seen.sizes.astype(float), length_s
    )


class Dqn:
    def __init__(self, run: FastRun, seed: int, settings: LearnerSettings = SETTINGS) -> None:
        self._run, self.agent = run, Agent(SIZES, seed, settings)

    def size(self, seen: PoolWindows, now_s: float) -> int:
        """Algorithm 1, lines 7 to 15: the highest Q, with noise at times; a gradient step a transition."""
        self.agent.take(windows_of(seen), seen.threshold_ns / 1e9, Condition(cores=seen.cores))
        self.agent.train()
        opinion = self.agent.opinion()
        at = int(opinion.values.argmax()) + opinion.noise
        return int(SIZES[min(max(at, 0), len(SIZES) - 1)])


class Watching:
    """What the rivals see: each second's state, action and reward, as they come."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self._trials, self._until_ms = Trials(), -1

    def look(self, seen: PoolWindows) -> tuple[Floats, Floats, Floats] | None:
        """Of the newest second: the state before it, the one after it, and (index of its size, reward)."""
        each = seconds(windows_of(seen))
        if len(each) < 2 or each.start_ms[-1] <= self._until_ms:
            return None
        self._until_ms = int(each.start_ms[-1])
        self._trials.see(each.completions[-1:])
        found = measured(each, seen.threshold_ns / 1e9, max(self._trials.most_per_s, 1e-9), SETTINGS)
        coded = np.broadcast_to(encode(Condition(cores=seen.cores)), (len(each), WIDTH))
        states = np.concatenate([found.state, coded], axis=1)
        action = float(nearest(SIZES, each.size[-1:])[0])
        return states[-2], states[-1], np.array([action, found.reward[-1]])


class Bayesian(Watching):
    """Bayesian optimization of the reward over ln size: a Gaussian process, and the size of the most expected
    improvement (RAMBO's kind). The newest 100 seconds count."""

    def __init__(self, run: FastRun, seed: int) -> None:
        super().__init__(seed)
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        kernel = ConstantKernel(0.1) * RBF(0.5, (0.1, 3.0)) + WhiteKernel(0.002, (1e-4, 0.1))
        self._process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
        self._tried: list[tuple[float, float]] = []

    def size(self, seen: PoolWindows, now_s: float) -> int:
        looked = self.look(seen)
        if looked is None:
            return int(seen.size)
        action, reward = looked[2]
        self._tried = [*self._tried, (float(np.log(SIZES[int(action)])), float(reward))][-100:]
        x, y = np.array(self._tried).T
        if len(self._tried) < 3:
            return int(SIZES[self.random.integers(len(SIZES))])
        fitted = len(self._tried) % 10 == 3
        self._process.optimizer = "fmin_l_bfgs_b" if fitted else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._process.fit(x[:, None], y)
            if fitted:
                self._process.kernel = self._process.kernel_
            mean, deviation = self._process.predict(np.log(SIZES)[:, None], return_std=True)
            at_tried = self._process.predict(x[:, None])
        return int(SIZES[improvement(mean, deviation, float(at_tried.max())).argmax()])


def improvement(mean: Floats, deviation: Floats, best: float) -> Floats:
    """Expected, over the best: s (z Phi(z) + phi(z)), z = (m - best) / s."""
    from scipy.stats import norm

    z = (mean - best) / np.maximum(deviation, 1e-9)
    found: Floats = deviation * (z * norm.cdf(z) + norm.pdf(z))
    return found


class Bandit(Watching):
    """A contextual bandit, LinUCB (Li et al. 2010) with a model a size: reward linear in the state, alpha 1.

    With 0.3 and 0.5 it never left the first size, whose reward was above what an untried one may have."""

    def __init__(self, run: FastRun, seed: int) -> None:
        super().__init__(seed)
        width = 4
        self._a = np.tile(np.eye(width), (len(SIZES), 1, 1))
        self._b = np.zeros((len(SIZES), width))

    def size(self, seen: PoolWindows, now_s: float) -> int:
        looked = self.look(seen)
        if looked is None:
            return int(seen.size)
        before, after, (action, reward) = looked
        x = np.concatenate([[1.0], before[:3]])
        self._a[int(action)] += np.outer(x, x)
        self._b[int(action)] += reward * x
        x = np.concatenate([[1.0], after[:3]])
        inverse = np.linalg.inv(self._a)
        theta = np.einsum("kij,kj->ki", inverse, self._b)
        score = theta @ x + 1.0 * np.sqrt(np.einsum("i,kij,j->k", x, inverse, x))
        return int(SIZES[score.argmax()])


class DeepDeterministic(Watching):
    """DDPG (Lillicrap et al. 2016): an actor names ln size, a critic judges it."""

    def __init__(self, run: FastRun, seed: int) -> None:
        super().__init__(seed)
        self._ddpg = Ddpg(3 + WIDTH, seed)

    def size(self, seen: PoolWindows, now_s: float) -> int:
        looked = self.look(seen)
        if looked is None:
            return int(seen.size)
        before, after, (action, reward) = looked
        most = float(np.log(BOUNDS[1]))
        self._ddpg.learn(before, 2 * float(np.log(SIZES[int(action)])) / most - 1, float(reward), after)
        return max(1, round(float(np.exp((self._ddpg.act(after) + 1) / 2 * most))))


SIZERS: dict[str, Callable[[FastRun, int], Sizer]] = {
    "DQN with speed-up": lambda run, seed: Dqn(run, seed),
    "DQN": lambda run, seed: Dqn(run, seed, replace(SETTINGS, speed_up=False)),
    "DQN as printed, with speed-up": lambda run, seed: Dqn(run, seed, AS_PRINTED),
    "DQN as printed": lambda run, seed: Dqn(run, seed, replace(AS_PRINTED, speed_up=False)),
    "BO": Bayesian,
    "contextual bandit": Bandit,
    "DDPG": DeepDeterministic,
}
