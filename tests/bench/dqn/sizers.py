"""Who sizes the pool once a second: the network with and without speed-up, and Bayesian optimization, a rival of
uConAdapter's figure 7. Both have the same state, reward and sizes. `steps.guarded` clamps the size that they name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bench.dqn.agent import Agent
from bench.dqn.condition import Condition
from bench.dqn.measure import ServiceWindows, highest_per_s, measured, seconds
from bench.dqn.settings import SETTINGS, LearnerSettings
from bench.dqn.sizes import grid, nearest
from bench.dqn.steps import BOUNDS, Sizer
from sluice.pools.estimate.samples import Floats
from testbed.fine import PoolWindows
from testbed.single.run import FastRun

SIZES = grid(*BOUNDS)
AS_PRINTED = replace(SETTINGS, double=False, steps_ahead=1, repeats=1)
"""Algorithm 1: one gradient step a transition."""
MOST_TRIED = 100
"""The newest seconds that Bayesian optimization rests on."""


def windows_of(windows: PoolWindows) -> ServiceWindows:
    """Of one pool, on one instance."""
    n, length_s = len(windows.sizes), windows.length_ns / 1e9
    start_ms = (windows.since_ns + np.arange(n) * windows.length_ns) // 1_000_000
    in_flight = windows.own.busy_ns / windows.length_ns
    system = np.maximum(windows.judge.busy_ns / windows.length_ns, in_flight)
    return ServiceWindows(
        start_ms, in_flight, system, windows.own.completions.astype(float), windows.sizes.astype(float), length_s
    )


class Dqn:
    def __init__(self, run: FastRun, seed: int, settings: LearnerSettings = SETTINGS) -> None:
        self._run, self.agent = run, Agent(SIZES, seed, settings)

    def size(self, windows: PoolWindows, now_s: float) -> int:
        """Algorithm 1, lines 7 to 15: the highest Q, with noise at times; a gradient step a transition."""
        self.agent.take(windows_of(windows), windows.threshold_ns / 1e9, Condition(cores=windows.cores))
        self.agent.train()
        opinion = self.agent.opinion()
        at = int(opinion.values.argmax()) + opinion.noise
        return int(SIZES[min(max(at, 0), len(SIZES) - 1)])


class Bayesian:
    """Bayesian optimization of the reward over ln size, of RAMBO's kind: a Gaussian process, and the size of the
    highest expected improvement."""

    def __init__(self, run: FastRun, seed: int) -> None:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        kernel = ConstantKernel(0.1) * RBF(0.5, (0.1, 3.0)) + WhiteKernel(0.002, (1e-4, 0.1))
        self._process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
        self._random = np.random.default_rng(seed)
        self._tried: list[tuple[float, float]] = []
        self._highest_per_s, self._until_ms = 0.0, -1

    def size(self, windows: PoolWindows, now_s: float) -> int:
        if not self._take(windows):
            return int(windows.size)
        if len(self._tried) < 3:
            return int(SIZES[self._random.integers(len(SIZES))])
        ln_sizes, rewards = np.array(self._tried).T
        fitted = len(self._tried) % 10 == 3
        self._process.optimizer = "fmin_l_bfgs_b" if fitted else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._process.fit(ln_sizes[:, None], rewards)
            if fitted:
                self._process.kernel = self._process.kernel_
            mean, deviation = self._process.predict(np.log(SIZES)[:, None], return_std=True)
            best = float(self._process.predict(ln_sizes[:, None]).max())
        return int(SIZES[improvement(mean, deviation, best).argmax()])

    def _take(self, windows: PoolWindows) -> bool:
        """Takes in size and reward of the newest second. False without a new one."""
        each_s = seconds(windows_of(windows))
        if len(each_s) < 2 or each_s.start_ms[-1] <= self._until_ms:
            return False
        self._until_ms = int(each_s.start_ms[-1])
        self._highest_per_s = highest_per_s(self._highest_per_s, each_s.completions[-1:])
        reward = measured(each_s, windows.threshold_ns / 1e9, max(self._highest_per_s, 1e-9), SETTINGS).reward[-1]
        size = SIZES[nearest(SIZES, each_s.size[-1:])[0]]
        self._tried = [*self._tried, (float(np.log(size)), float(reward))][-MOST_TRIED:]
        return True


def improvement(mean: Floats, deviation: Floats, best: float) -> Floats:
    """Expected improvement over the best: s (z Phi(z) + phi(z)), z = (mean - best) / s. Worked: mean = best, s = 1:
    phi(0) = 0.399."""
    from scipy.stats import norm

    z = (mean - best) / np.maximum(deviation, 1e-9)
    expected: Floats = deviation * (z * norm.cdf(z) + norm.pdf(z))
    return expected


SIZERS: dict[str, Callable[[FastRun, int], Sizer]] = {
    "DQN with speed-up": Dqn,
    "DQN": lambda run, seed: Dqn(run, seed, replace(SETTINGS, speed_up=False)),
    "DQN as printed, with speed-up": lambda run, seed: Dqn(run, seed, AS_PRINTED),
    "DQN as printed": lambda run, seed: Dqn(run, seed, replace(AS_PRINTED, speed_up=False)),
    "BO": Bayesian,
}
