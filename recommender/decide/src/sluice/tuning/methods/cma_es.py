"""CMA-ES (Hansen and Ostermeier 2001, doi:10.1162/106365601750190398), by the library cmaes: the modern reference.

A generation is the next L trials that were told and are not of an earlier one; mean, step and covariance are worked out
from all whole generations, from points as they were asked for, before rounding. L is 4 + 3 ln(dimensions), but at most
a fifth of the budget, so that there are five generations, and at least 4. It starts at the default with a step of 0.3.

The library's variant with margin keeps each value of a discrete parameter within reach in hundreds of generations; a
session has some tens at most, and its second point, which that variant needs, is not in the record of trials.
"""

from __future__ import annotations

import math

import numpy as np

from sluice.tuning.methods.question import Question
from sluice.tuning.space import Point

STEP = 0.3


def propose(question: Question) -> Point:
    from cmaes import CMA

    size = generation(question.dimensions, question.budget)
    search = CMA(
        mean=np.clip(question.space.default_point, 0.01, 0.99),
        sigma=STEP,
        bounds=np.tile([0.0, 1.0], (question.dimensions, 1)),
        population_size=size,
        seed=int(question.generator().integers(2**31)),
    )
    told = [each for each in question.told if each.number > 0]
    for first in range(0, len(told) - size + 1, size):
        if search.should_stop():
            break
        search.tell([(each.point, each.loss) for each in told[first : first + size]])
    return np.asarray(np.clip(search.ask(), 0.0, 1.0), dtype=np.float64)


def generation(dimensions: int, budget: int) -> int:
    return max(4, min(4 + int(3 * math.log(dimensions)), budget // 5))
