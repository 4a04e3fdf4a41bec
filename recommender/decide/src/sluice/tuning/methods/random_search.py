"""Random search: every point of the unit cube is as likely. What any other method has to beat."""

from __future__ import annotations

from sluice.tuning.methods.question import Question
from sluice.tuning.space import Point


def propose(question: Question) -> Point:
    return question.generator().random(question.dimensions)
