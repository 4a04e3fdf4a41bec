"""CMA-ES (Hansen and Ostermeier 2001, doi:10.1162/106365601750190398), by the library cmaes: the modern reference.

A generation is the next L reported trials that are not in an earlier one. Mean, step and covariance follow from all
complete generations, with the points as the method proposed them, before rounding. L is 4 + 3 ln(dimensions), at most a
fifth of the budget, so that there are five generations, and at least 4. The search starts at the default with a step of
0.3.

The library's variant with margin keeps each value of a discrete parameter within reach over hundreds of generations. A
session has some tens at most, and the record of trials lacks the second point that this variant needs.
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
    searched = [trial for trial in question.reported if trial.number > 0]
    for first in range(0, len(searched) - size + 1, size):
        if search.should_stop():
            break
        search.tell([(trial.point, trial.loss) for trial in searched[first : first + size]])
    return np.asarray(np.clip(search.ask(), 0.0, 1.0), dtype=np.float64)


def generation(dimensions: int, budget: int) -> int:
    return max(4, min(4 + int(3 * math.log(dimensions)), budget // 5))
