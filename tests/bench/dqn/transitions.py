"""Turns windows into transitions (s, a, r, s'). Whole seconds have the size in force as their action; windows of 100 ms
have the measured concurrency as if it were the size (uConAdapter 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.dqn.measure import LearnerInput, ServiceWindows
from bench.dqn.settings import LearnerSettings
from bench.dqn.sizes import Ints, nearest
from sluice.pools.estimate.samples import Floats


@dataclass(frozen=True)
class Transitions:
    """n transitions: states of shape (n, S), the rest (n,). action: index of a size. discount: of what
    follows `after`."""

    state: Floats
    action: Ints
    reward: Floats
    after: Floats
    discount: Floats

    def __len__(self) -> int:
        return len(self.action)


def transitions(
    of: ServiceWindows,
    learner_input: LearnerInput,
    sizes: Ints,
    settings: LearnerSettings,
    since_ms: int,
    virtual: bool,
) -> Transitions:
    """The transitions that end with a window that starts after since_ms. virtual: concurrency is the action, else the
    size in force. With n-step returns, n windows make one. learner_input: of these windows, with the condition.

    The action of a window is the size in force in it: it led from the state before to the one that the window shows.
    """
    action_of = of.in_flight if virtual else of.size
    follows, ahead = of.follows(), settings.steps_ahead
    at = np.flatnonzero(follows & (of.in_flight > 0 if virtual else ~np.isnan(of.size)))
    at = at[at + ahead - 1 < len(of)]
    at = at[of.start_ms[at + ahead - 1] > since_ms]
    for k in range(1, ahead):
        at = at[follows[at + k]]
    rewards = sum(
        (settings.discount**k * learner_input.reward[at + k] for k in range(ahead)),
        start=np.zeros(len(at), dtype=np.float64),
    )
    state = learner_input.state
    return Transitions(
        state=state[at - 1],
        action=nearest(sizes, action_of[at]),
        reward=rewards,
        after=state[at + ahead - 1],
        discount=np.full(len(at), settings.discount**ahead),
    )
