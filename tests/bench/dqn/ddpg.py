"""Deep deterministic policy gradient, with the network's sizes and rates: actor and critic of two layers of 40."""

from __future__ import annotations

import numpy as np

from sluice.pools.learned.adam import Adam
from sluice.pools.learned.network import Array, Network
from sluice.pools.learned.settings import SETTINGS
from testbed.tiers.run import Floats

TAU, NOISE = 0.01, 0.2


class Ddpg:
    """Actions are -1..1. The target networks follow by 1 % a step; noise is normal, of deviation 0.2."""

    def __init__(self, width: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._actor, self._critic = Network(width, 1), Network(width + 1, 1)
        self._of_actor, self._of_critic = (net.begin(self._random) for net in (self._actor, self._critic))
        self._slow_actor, self._slow_critic = self._of_actor.copy(), self._of_critic.copy()
        self._adam_actor = Adam(self._actor.size, SETTINGS.learning_rate)
        self._adam_critic = Adam(self._critic.size, SETTINGS.learning_rate)
        self._rows: list[Floats] = []

    def act(self, state: Floats) -> float:
        named = self._named(self._of_actor, state[None].astype(np.float32))[0, 0]
        return float(np.clip(named + self._random.normal(0, NOISE), -1, 1))

    def learn(self, before: Floats, action: float, reward: float, after: Floats) -> None:
        """One transition, one step."""
        self._rows.append(np.concatenate([before, [action, reward], after]))
        self._rows = self._rows[-SETTINGS.capacity :]
        drawn = self._random.integers(len(self._rows), size=SETTINGS.batch)
        rows = np.array([self._rows[i] for i in drawn], dtype=np.float32)
        w = len(before)
        s, a, r, s2 = rows[:, :w], rows[:, w : w + 1], rows[:, w + 1], rows[:, w + 2 :]
        next_q = self._critic.values(self._slow_critic, _with(s2, self._named(self._slow_actor, s2)))[:, 0]
        zeros = np.zeros(len(rows), dtype=np.int64)
        _, gradient = self._critic.gradient(self._of_critic, _with(s, a), zeros, r + SETTINGS.discount * next_q)
        self._adam_critic.step(self._of_critic, gradient)
        self._adam_actor.step(self._of_actor, self._policy_gradient(s))
        for slow, fast in ((self._slow_actor, self._of_actor), (self._slow_critic, self._of_critic)):
            slow += TAU * (fast - slow)

    def _named(self, theta: Array, states: Array) -> Array:
        return np.tanh(self._actor.values(theta, states))

    def _policy_gradient(self, states: Array) -> Array:
        """Of -mean Q(s, actor(s)) in the actor's weights: dQ/da by a difference of 0.01, through tanh."""
        named = self._named(self._of_actor, states)
        step = np.float32(0.01)
        up, down = (self._critic.values(self._of_critic, _with(states, named + each)) for each in (step, -step))
        of_raw = (up - down)[:, 0] / (2 * step) * (1 - named[:, 0] ** 2)
        raw = self._actor.values(self._of_actor, states)[:, 0]
        # The gradient of (raw - wanted)^2 / 2 at wanted = raw + d is -d times that of raw.
        zeros = np.zeros(len(states), dtype=np.int64)
        return self._actor.gradient(self._of_actor, states, zeros, raw + of_raw)[1] / 2


def _with(states: Array, actions: Array) -> Array:
    return np.concatenate([states, actions], axis=1)
