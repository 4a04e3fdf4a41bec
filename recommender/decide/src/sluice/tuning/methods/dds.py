"""Dynamically dimensioned search (Tolson and Shoemaker, Water Resources Research 43, 2007, doi:10.1029/2005WR004723).

From the best point, each coordinate moves with probability P(i) = 1 - ln(i) / ln(m) in iteration i of m, at least one
of them. The step is normal with r = 0.2 of its range, and is reflected at the bounds. Worked for m = 15: P(1) = 1, P(4)
= 0.49, P(15) = 0: a global search at first, one parameter at a time at the end. The new point becomes the best one if
its loss is not larger.

The search starts at the default instead of the best of max(5, 0.005 m) random points. The paper allows that where a
starting solution exists. Steps: `move.perturbed`.
"""

from __future__ import annotations

import math

from sluice.tuning.methods.move import perturbed, picked
from sluice.tuning.methods.question import Question, start
from sluice.tuning.space import Point

# Step, as a share of a parameter's range. It is the paper's value, which needs no tuning.
R = 0.2


def propose(question: Question) -> Point:
    generator = question.generator()
    chosen = picked(question.dimensions, chance(question.number, question.budget), generator)
    return perturbed(question.space, start(question), chosen, R, generator)


def chance(iteration: int, budget: int) -> float:
    """P(i): the probability that a coordinate moves. 0 from the last iteration on, and 1 for a budget of one."""
    if iteration >= budget:
        return 0.0 if budget > 1 else 1.0
    return 1.0 - math.log(iteration) / math.log(budget)
