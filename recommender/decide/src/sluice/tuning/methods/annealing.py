"""Simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983, doi:10.1126/science.220.4598.671).

The search stands at one point and tries a neighbour. It accepts a neighbour with no larger loss, and one with a loss
larger by d with probability exp(-d / T). The temperature falls geometrically over the budget: T(i) = s T1 (T2 / T1)^(i
/ m) with T1 = 0.5, T2 = 0.01. The unit s is the median distance of the losses from the least one, so that milliseconds
and shares anneal alike. A neighbour differs in a third of the parameters, at least one. Its step is normal and shrinks
from 0.3 to 0.1 of the range.
"""

from __future__ import annotations

import math

import numpy as np

from sluice.tuning.methods.move import perturbed, picked
from sluice.tuning.methods.question import Question, Tried
from sluice.tuning.space import Point

HOT, COLD = 0.5, 0.01
WIDE, NARROW = 0.3, 0.1
MOVED = 1 / 3

_ACCEPT = 1  # purpose of the random number that accepts a neighbour


def propose(question: Question) -> Point:
    at = standing(question)
    point = at.point if at else question.space.default_point
    generator = question.generator()
    chosen = picked(question.dimensions, MOVED, generator)
    width = _between(WIDE, NARROW, question.number / question.budget)
    return perturbed(question.space, point, chosen, width, generator)


def standing(question: Question) -> Tried | None:
    """The point of the search after all reported trials."""
    at: Tried | None = None
    losses = [trial.loss for trial in question.reported]
    for count, trial in enumerate(question.reported, start=1):
        scale = float(np.median(losses[:count])) - min(losses[:count])
        temperature = scale * _between(HOT, COLD, trial.number / question.budget)
        if at is None or trial.loss <= at.loss:
            at = trial
        elif temperature > 0:
            drawn = question.generator(trial.number, _ACCEPT).random()
            if drawn < math.exp(-(trial.loss - at.loss) / temperature):
                at = trial
    return at


def _between(first: float, last: float, share: float) -> float:
    return first * math.pow(last / first, min(share, 1.0))
