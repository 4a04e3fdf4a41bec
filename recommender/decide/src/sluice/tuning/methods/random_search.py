"""Random search: each point of the unit cube is equally likely. The baseline for all other methods."""

from __future__ import annotations

from sluice.tuning.methods.question import Question
from sluice.tuning.space import Point


def propose(question: Question) -> Point:
    return question.generator().random(question.dimensions)
