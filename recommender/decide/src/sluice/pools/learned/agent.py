"""The agent of one pool: its windows, its network, and the present value of each size.

Algorithm 1 of uConAdapter. The same windows under the same seed give the same values, on any machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sluice.pools.estimate.samples import Floats
from sluice.pools.learned.condition import WIDTH, Condition, encode
from sluice.pools.learned.evaluate import SizeEstimates, evaluate
from sluice.pools.learned.learner import Learner
from sluice.pools.learned.measure import STATES, ServiceWindows, measured, seconds, work_s
from sluice.pools.learned.network import Network
from sluice.pools.learned.settings import SETTINGS, LearnerSettings
from sluice.pools.learned.sizes import Ints, nearest
from sluice.pools.learned.transitions import transitions
from sluice.pools.learned.trials import Trials

# The most conditions that are kept, the newest ones.
MOST_CONDITIONS = 4
# Transitions kept for a condition that is not in force: 54 kB.
AT_REST = 1_000
# The label of the single learner that all conditions share.
SHARED = ""
# The present demand is the mean of so many seconds.
NEWEST = 5


@dataclass(frozen=True)
class Opinion:
    """The agent's opinion in the newest state. values: Q by size, shape (K,). noise: steps of the grid that exploration
    adds, mostly 0.

    state: (TPR, LR, RU). steps: gradient steps, and transitions: in the replay memory, both of the present condition.
    condition: SC of that state; None before the first windows.
    """

    sizes: Ints
    values: Floats
    worth: SizeEstimates
    state: tuple[float, float, float]
    noise: int
    steps: int
    transitions: int
    until_ms: int
    condition: Condition | None = None


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
        self.trials: dict[str, Trials] = {}
        self.until_ms = -1
        self.state: Floats = np.zeros(STATES + WIDTH)
        self.asked_per_s = 0.0
        self.label = ""
        """The label of the present condition."""
        self.condition: Condition | None = None
        """The present condition with measured values; None until windows come."""

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
        trials = self._condition(condition.label)
        rate = each_s.completions / each_s.length_s
        trials.see(rate[new_s])
        most = max(trials.most_per_s, 1e-9)
        self.condition = replace(condition, work_s=condition.work_s or work_s(each_s))
        coded = encode(self.condition)
        learner_input = measured(each_s, slo_s, most, self.settings)
        known = new_s & each_s.follows() & ~np.isnan(each_s.size)
        trials.add(
            each_s.start_ms[known],
            nearest(self.sizes, each_s.size[known]),
            type(learner_input)(
                learner_input.state[known], learner_input.reward[known], learner_input.asked_per_s[known]
            ),
            rate[known],
        )
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
        count = sum(map(len, parts))
        self.until_ms = ends_ms
        self.state = np.concatenate([learner_input.state[-1], coded])
        self.asked_per_s = float(learner_input.asked_per_s[-NEWEST:].mean())
        return count

    def train(self, most: int | None = None) -> int:
        """As `Learner.train`, of the present condition."""
        return self.learner.train(most)

    def opinion(self) -> Opinion:
        """The present opinion. A call draws the noise of the next action."""
        explores = self.random.random() < self.settings.epsilon
        noise = int(self.random.integers(1, self.settings.noise + 1)) * (1 if self.random.random() < 0.5 else -1)
        trials = self.trials.get(self.label, Trials())
        tpr, lr, ru = (float(part) for part in self.state[:STATES])
        return Opinion(
            sizes=self.sizes,
            values=self.values(self.state),
            worth=evaluate(trials, self.asked_per_s, len(self.sizes), self.settings),
            state=(tpr, lr, ru),
            noise=noise if explores else 0,
            steps=self.learner.steps,
            transitions=len(self.learner.replay),
            until_ms=self.until_ms,
            condition=self.condition,
        )

    def values(self, state: Floats) -> Floats:
        """Q of each size in a state, shape (K,)."""
        values: Floats = self.network.values(self.learner.theta, state[None].astype(np.float32))[0].astype(np.float64)
        return values

    def _condition(self, label: str) -> Trials:
        """The trials of the condition; switches the learner too, where each condition has its own."""
        self.label = label
        trials = self.trials.pop(label, None)
        self.trials[label] = trials if trials is not None else Trials()
        name = label if self.settings.apart else SHARED
        learner = self.learners.pop(name, None)
        if learner is None and self.learners:
            learner = self.begun()
            learner.begin_with(self.learner)
        if learner is not None and learner is not self.learner:
            self.learner.rest(AT_REST)
            self.learner = learner
        self.learners[name] = self.learner
        for known in (self.trials, self.learners):
            while len(known) > MOST_CONDITIONS:
                known.pop(next(iter(known)))
        return self.trials[label]
