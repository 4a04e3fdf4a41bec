"""A method under test: runs of it on functions whose optimum is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sluice.tuning.methods.methods import ask
from sluice.tuning.methods.question import Question, Tried
from sluice.tuning.space import Configuration, Point, Space

Loss = Callable[[Configuration], float]


def search(
    name: str, space: Space, loss: Loss, budget: int, seed: int, in_flight: int = 1
) -> list[tuple[Tried, Configuration]]:
    """Trials 0 (the default) to `budget`, as told: with `in_flight` > 1 the oldest is told when so many were asked."""
    reported = [(Tried(0, space.default_point, loss(space.default)), space.default)]
    flying: list[tuple[int, Point, Configuration]] = []
    for number in range(1, budget + 1):
        question = Question(
            space, seed, budget, number, tuple(each for each, _ in reported), tuple(proposal[:2] for proposal in flying)
        )
        flying.append((number, *ask(name, question)))
        if len(flying) == in_flight:
            reported.append(_told(flying.pop(0), loss))
    return reported + [_told(proposal, loss) for proposal in flying]


def _told(asked: tuple[int, Point, Configuration], loss: Loss) -> tuple[Tried, Configuration]:
    number, point, configuration = asked
    return Tried(number, point, loss(configuration)), configuration


def best(trials: Sequence[tuple[Tried, Configuration]]) -> float:
    return min(trial.loss for trial, _ in trials)
