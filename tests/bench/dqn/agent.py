"""The agent of one pool: its windows, its network, and the present value of each size.

Algorithm 1 of uConAdapter. The same windows under the same seed give the same values, on any machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bench.dqn.condition import WIDTH, Condition, encode
from bench.dqn.learner import Learner
from bench.dqn.measure import STATES, ServiceWindows, highest_per_s, measured, seconds, work_s
from bench.dqn.network import Network
from bench.dqn.settings import SETTINGS, LearnerSettings
from bench.dqn.sizes import Ints
from bench.dqn.transitions import transitions
from sluice.pools.estimate.samples import Floats

# The most conditions that are kept, the newest ones.
MOST_CONDITIONS = 4
# Transitions kept for a condition that is not in force: 54 kB.
AT_REST = 1_000
# The label of the single learner that all conditions share.
SHARED = ""


@dataclass(frozen=True)
class Opinion:
    """The agent's opinion in the newest state. values: Q by size, shape (K,). noise: steps of the grid that exploration
    adds, mostly 0."""

    values: Floats
    noise: int


class Agent:
    """The agent of one pool. It is not safe for concurrent use.

    Each condition has a network and a replay memory of its own (`LearnerSettings.apart`), as each hardware allocation
    has in the paper's 5.5. It begins with the weights of the one before. A condition that comes back finds its own
    again.
    """

    def __init__(self, sizes: Ints, seed: int, settings: LearnerSettings = SETTINGS) -> None:
        self.sizes, self.settings = sizes, settings
        self.random = np.random.default_rng(seed)
        self.network = Network(STATES + WIDTH, len(sizes), settings.neurons)
        self.learner = self.begun()
        """The learner of the present condition."""
        self.learners: dict[str, Learner] = {}
        """By condition, the present one last; empty before the first windows."""
        self.highest_per_s: dict[str, float] = {}
        """The most completions per second, by condition, the present one last."""
        self.until_ms = -1
        self.state: Floats = np.zeros(STATES + WIDTH)

    def begun(self) -> Learner:
        """A learner without training."""
        return Learner(self.network, self.random, self.settings)

    def take(self, windows: ServiceWindows, slo_s: float, condition: Condition) -> int:
        """Takes in windows that start after `until_ms`; earlier ones lead up to them. Returns the number of new
        transitions."""
        each_s = seconds(windows)
        new_s = each_s.start_ms > self.until_ms
        if not new_s.any():
            return 0
        label = condition.label
        self._begin(label)
        rate = each_s.completions / each_s.length_s
        most = self.highest_per_s[label] = highest_per_s(self.highest_per_s[label], rate[new_s])
        most = max(most, 1e-9)
        coded = encode(replace(condition, work_s=condition.work_s or work_s(each_s)))
        learner_input = measured(each_s, slo_s, most, self.settings)
        ends_ms = int(each_s.start_ms[-1])
        parts = [
            transitions(each_s, learner_input.under(coded), self.sizes, self.settings, self.until_ms, virtual=False)
        ]
        if self.settings.speed_up:
            fine = windows.take(windows.start_ms < ends_ms + 1000)
            of_fine = measured(fine, slo_s, most, self.settings)
            # Windows in the last second that was taken were taken with it.
            since_ms = self.until_ms + 999 if self.until_ms >= 0 else -1
            parts.append(transitions(fine, of_fine.under(coded), self.sizes, self.settings, since_ms, virtual=True))
        for part in parts:
            self.learner.add(part)
        self.until_ms = ends_ms
        self.state = np.concatenate([learner_input.state[-1], coded])
        return sum(map(len, parts))

    def train(self, most: int | None = None) -> int:
        """As `Learner.train`, of the present condition."""
        return self.learner.train(most)

    def opinion(self) -> Opinion:
        """The present opinion. A call draws the noise of the next action."""
        explores = self.random.random() < self.settings.epsilon
        noise = int(self.random.integers(1, self.settings.noise + 1)) * (1 if self.random.random() < 0.5 else -1)
        return Opinion(self.values(self.state), noise if explores else 0)

    def values(self, state: Floats) -> Floats:
        """Q of each size in a state, shape (K,)."""
        values: Floats = self.network.values(self.learner.theta, state[None].astype(np.float32))[0].astype(np.float64)
        return values

    def _begin(self, label: str) -> None:
        """Switches to the condition, and to its learner where each condition has its own."""
        self.highest_per_s[label] = self.highest_per_s.pop(label, 0.0)
        name = label if self.settings.apart else SHARED
        learner = self.learners.pop(name, None)
        if learner is None and self.learners:
            learner = self.begun()
            learner.begin_with(self.learner)
        if learner is not None and learner is not self.learner:
            self.learner.rest(AT_REST)
            self.learner = learner
        self.learners[name] = self.learner
        for known in (self.highest_per_s, self.learners):
            while len(known) > MOST_CONDITIONS:
                known.pop(next(iter(known)))
