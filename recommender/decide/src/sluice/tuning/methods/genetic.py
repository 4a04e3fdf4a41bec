"""A genetic algorithm, steady state (Whitley's GENITOR, 1989): one child at a time joins the best P of all trials.

Parents win a tournament of two. Each coordinate of the child comes from one parent (uniform crossover). Then each
coordinate moves with probability 1 / dimensions, at least one, by a normal step of 0.2 of its range. The first P
children are random. P is a third of the budget, from 4 to 20.
"""

from __future__ import annotations

import numpy as np

from sluice.tuning.methods.move import perturbed, picked
from sluice.tuning.methods.question import Question, Tried
from sluice.tuning.space import Point

MUTATION = 0.2


def propose(question: Question) -> Point:
    generator = question.generator()
    size = population(question.budget)
    living = sorted(question.reported, key=lambda trial: trial.loss)[:size]
    if question.number < size or len(living) < 2:
        return generator.random(question.dimensions)
    first, second = _winner(living, generator), _winner(living, generator)
    child = np.where(generator.random(question.dimensions) < 0.5, first.point, second.point)
    chosen = picked(question.dimensions, 1 / question.dimensions, generator)
    return perturbed(question.space, child, chosen, MUTATION, generator)


def _winner(living: list[Tried], generator: np.random.Generator) -> Tried:
    """The better of two random trials of a sorted list."""
    return living[int(generator.integers(len(living), size=2).min())]


def population(budget: int) -> int:
    return min(max(budget // 3, 4), 20)
