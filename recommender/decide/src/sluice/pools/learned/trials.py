"""Whole seconds of each size while it was in force. They evaluate a size before it may be chosen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sluice.pools.estimate.samples import Floats
from sluice.pools.learned.measure import LearnerInput
from sluice.pools.learned.settings import LearnerSettings
from sluice.pools.learned.sizes import Ints

MOST = 3_600
# Part of the highest rate that is forgotten per second: half in 21 minutes.
FORGOTTEN = 1 / 1_800
COLUMNS = ("start_ms", "action", "asked_per_s", "tpr", "lr", "rate_per_s")


@dataclass
class Trials:
    """Trials of one condition. rows: shape (n, 6) in the order of COLUMNS, ascending in time. most_per_s: the most
    completions in a second, 0 before any."""

    rows: Floats = field(default_factory=lambda: np.zeros((0, len(COLUMNS))))
    most_per_s: float = 0.0

    def __len__(self) -> int:
        return len(self.rows)

    def see(self, completions_per_s: Floats) -> None:
        """Takes in completions of whole seconds, shape (n,)."""
        for per_s in completions_per_s:
            self.most_per_s = max(self.most_per_s * (1 - FORGOTTEN), float(per_s))

    def add(self, start_ms: Ints, actions: Ints, learner_input: LearnerInput, rate_per_s: Floats) -> None:
        new = np.stack(
            [
                start_ms,
                actions,
                learner_input.asked_per_s,
                learner_input.state[:, 0],
                learner_input.state[:, 1],
                rate_per_s,
            ],
            axis=1,
        )
        self.rows = np.concatenate([self.rows, new])[-MOST:]

    @property
    def start_ms(self) -> Ints:
        start_ms: Ints = self.rows[:, 0].astype(np.int64)
        return start_ms

    @property
    def actions(self) -> NDArray[np.int64]:
        return self.rows[:, 1].astype(np.int64)

    @property
    def asked_per_s(self) -> Floats:
        return self.rows[:, 2]

    def rewards(self, settings: LearnerSettings) -> Floats:
        """Rewards by the highest rate known now: a reward from before that rate would be too high."""
        tpr, lr, rate = self.rows[:, 3], self.rows[:, 4], self.rows[:, 5]
        rewards: Floats = settings.alpha * lr + settings.beta * tpr * np.minimum(rate / max(self.most_per_s, 1e-9), 1)
        return rewards
