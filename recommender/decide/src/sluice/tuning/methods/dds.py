"""Dynamically dimensioned search (Tolson and Shoemaker, Water Resources Research 43, 2007, doi:10.1029/2005WR004723).

From the best point, each coordinate moves with probability P(i) = 1 - ln(i) / ln(m) in iteration i of m, at least one;
by a normal step of r = 0.2 of its range, reflected at the bounds. Worked for m = 15: P(1) = 1, P(4) = 0.49, P(15) = 0:
a global search at first, one parameter at a time at the end. The new point is the best one if it loses no more.

The search starts at the default instead of the best of max(5, 0.005 m) random points: as the paper lets it where there
is a starting solution. Of steps: `move.perturbed`.
"""

from __future__ import annotations

import math

from sluice.tuning.methods.move import perturbed, picked
from sluice.tuning.methods.question import Question, start
from sluice.tuning.space import Point

# Step, as a share of a parameter's range; the paper's, which asks for no tuning of it.
R = 0.2


def propose(question: Question) -> Point:
    generator = question.generator()
    chosen = picked(question.dimensions, chance(question.number, question.budget), generator)
    return perturbed(question.space, start(question), chosen, R, generator)


def chance(iteration: int, budget: int) -> float:
    """P(i): that a coordinate moves. 0 from the last iteration on, and for a budget of one."""
    if iteration >= budget:
        return 0.0 if budget > 1 else 1.0
    return 1.0 - math.log(iteration) / math.log(budget)
