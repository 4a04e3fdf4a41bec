"""The input of a method, and the signature that all methods share.

A method is a function from a `Question` to a point of the unit cube. It keeps no state. It computes its past (a
particle's last move, annealing's present configuration, a generation's mean) from the trials in the order of their
reports. Its random numbers come from the session's seed and the trial's number. So the record of trials is all of its
state: a restarted process continues where it was, and several trials may be in flight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from sluice.tuning.space import Point, Space


@dataclass(frozen=True)
class Tried:
    """A reported trial: its point, and its loss (smaller is better; every outcome has a loss: `outcome.losses`).

    point: as the method proposed it, before rounding where the space has steps.
    """

    number: int
    point: Point
    loss: float


@dataclass(frozen=True)
class Question:
    """Which point should trial `number` have?

    number   of the trial. Trial 0 is the default's; 1 to `budget` are the method's (or a warm start's)
    reported trials with a report, in the order of their reports
    flying   trials without a report yet, with their number
    attempt  how often the method answered this question with a tried configuration
    """

    space: Space
    seed: int
    budget: int
    number: int
    reported: tuple[Tried, ...] = ()
    flying: tuple[tuple[int, Point], ...] = ()
    attempt: int = 0

    def generator(self, number: int | None = None, purpose: int = 0) -> np.random.Generator:
        """Random numbers of one trial (by default, this one) for one purpose: the same on each call."""
        number = self.number if number is None else number
        return np.random.default_rng((self.seed, number, purpose, self.attempt if number == self.number else 0))

    @cached_property
    def best(self) -> Tried | None:
        """The trial with the least loss, the earliest reported of equal ones. None before the first report."""
        return min(self.reported, key=lambda trial: trial.loss, default=None)

    @cached_property
    def dimensions(self) -> int:
        return len(self.space.parameters)

    def again(self) -> Question:
        return replace(self, attempt=self.attempt + 1)


Method: TypeAlias = Callable[[Question], Point]


def start(question: Question) -> Point:
    """Where a local search stands: the best trial; the default before the first report."""
    return question.best.point if question.best else question.space.default_point
