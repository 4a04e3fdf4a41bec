"""The trained parts: a network, its target network, the optimizer and the replay memory (Algorithm 1,
lines 11 to 15)."""

from __future__ import annotations

import numpy as np

from bench.dqn.adam import Adam
from bench.dqn.network import Array, Network
from bench.dqn.replay import Replay
from bench.dqn.settings import LearnerSettings
from bench.dqn.transitions import Transitions


class Learner:
    """owed: gradient steps for new transitions that are not taken yet."""

    def __init__(self, network: Network, random: np.random.Generator, settings: LearnerSettings) -> None:
        self._network, self._random, self._settings = network, random, settings
        self.theta: Array = network.begin(random)
        self.target: Array = self.theta.copy()
        self.adam = Adam(network.size, settings.learning_rate)
        self.replay = Replay(settings.capacity, network.inputs)
        self.owed = 0

    @property
    def steps(self) -> int:
        """Gradient steps taken."""
        return self.adam.steps

    def begin_with(self, other: Learner) -> None:
        """Copies another learner's weights, without its replay memory."""
        self.theta, self.target = other.theta.copy(), other.target.copy()

    def add(self, new: Transitions) -> None:
        self.replay.add(new)
        self.owed += len(new) * self._settings.repeats

    def train(self, most: int | None = None) -> int:
        """Takes the owed gradient steps, at most `most`; returns the number taken."""
        steps = self.owed if most is None else min(self.owed, most)
        if len(self.replay) == 0:
            return 0
        for _ in range(steps):
            self._step()
        self.owed -= steps
        return steps

    def rest(self, transitions: int) -> None:
        """Keeps so many of the newest transitions, and owes no steps."""
        rows = self.replay.rows[-transitions:].copy()
        self.replay = Replay(self._settings.capacity, self._network.inputs)
        self.replay.restore(rows)
        self.owed = 0

    def _step(self) -> None:
        """Lines 12 to 15."""
        settings, width = self._settings, self._network.inputs
        rows = self.replay.draw(self._random, settings.batch)
        states, after = rows[:, :width], rows[:, width + 3 :]
        actions, reward, discount = rows[:, width].astype(np.int64), rows[:, width + 1], rows[:, width + 2]
        of_after = self._network.values(self.target, after)
        if settings.double:
            chosen = self._network.values(self.theta, after).argmax(axis=1)
            best = of_after[np.arange(len(rows)), chosen]
        else:
            best = of_after.max(axis=1)
        _, gradient = self._network.gradient(self.theta, states, actions, reward + discount * best)
        self.adam.step(self.theta, gradient)
        if self.adam.steps % settings.sync_every == 0:
            self.target = self.theta.copy()
