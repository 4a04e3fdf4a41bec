"""What a method is asked, and the one signature that all of them have.

A method is a function from a `Question` to a point of the unit cube. It keeps nothing: what it needs of its own past (a
particle's last move, the configuration that annealing stands at, a generation's mean) it works out again from the
trials in the order in which they were told, and its chance comes from the session's seed and the trial's number. So the
record of trials is all of its state, a process that was killed goes on where it was, and several trials may be in
flight.
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
    """A trial that was told: where, and how much it loses (less is better; every outcome has a loss: `rank.losses`).

    point  what the method had asked for. Rounding, where the space has steps, is not in it.
    """

    number: int
    point: Point
    loss: float


@dataclass(frozen=True)
class Question:
    """Which point should trial `number` have?

    number  of the trial. Trial 0 is the default's; 1 to `budget` are the method's (or a warm start's)
    told    in the order in which they were told
    flying  those that were asked for and not told yet, by number
    attempt  how often the same was asked before, and answered with what had been tried
    """

    space: Space
    seed: int
    budget: int
    number: int
    told: tuple[Tried, ...] = ()
    flying: tuple[tuple[int, Point], ...] = ()
    attempt: int = 0

    def generator(self, number: int | None = None, purpose: int = 0) -> np.random.Generator:
        """Chance of one trial (by default, of this one) for one purpose: the same whenever it is asked for."""
        number = self.number if number is None else number
        return np.random.default_rng((self.seed, number, purpose, self.attempt if number == self.number else 0))

    @cached_property
    def best(self) -> Tried | None:
        """The trial that loses least; the earliest told of several. None before the first was told."""
        return min(self.told, key=lambda each: each.loss, default=None)

    @cached_property
    def dimensions(self) -> int:
        return len(self.space.parameters)

    def again(self) -> Question:
        return replace(self, attempt=self.attempt + 1)


Method: TypeAlias = Callable[[Question], Point]


def start(question: Question) -> Point:
    """Where a local search stands: the best trial; the default before any was told."""
    return question.best.point if question.best else question.space.default_point
