"""All methods by name, and the function that asks them. A method's module is imported on first use."""

from __future__ import annotations

from importlib import import_module

from sluice.tuning.methods.move import perturbed, picked
from sluice.tuning.methods.question import Method, Question, start
from sluice.tuning.space import Configuration, Point

METHODS = {
    "annealing": "simulated annealing",
    "boosted_trees": "Bayesian optimization, gradient-boosted trees",
    "cma_es": "CMA-ES",
    "dds": "dynamically dimensioned search",
    "gaussian_process": "Bayesian optimization, Gaussian process",
    "genetic": "genetic algorithm",
    "random_forest": "Bayesian optimization, random forest",
    "random_search": "random search",
    "swarm": "particle swarm",
    "tpe": "tree-structured Parzen estimator",
}

# How often a method may propose, and how many random neighbours follow.
_AGAIN, _STRAY = 5, 20
_ELSEWHERE = 2  # purpose of the random numbers that leave tried configurations


def method(name: str) -> Method:
    """The method of this name; KeyError for an unknown one."""
    if name not in METHODS:
        raise KeyError(name)
    propose: Method = import_module(f"sluice.tuning.methods.{name}").propose
    return propose


def ask(name: str, question: Question) -> tuple[Point, Configuration]:
    """The point and configuration of trial `question.number`: legal, and not tried before where that is possible.

    A method that proposes a tried configuration is asked up to five times, with other random numbers. Then a neighbour
    of the best trial follows, at a growing distance. When the space has no untried configuration left, one is tried
    again.
    """
    propose, space = method(name), question.space
    tried = {_key(space.configuration(point)) for point in _points(question)}
    for _ in range(_AGAIN):
        point = space.repaired(propose(question))
        if _key(space.configuration(point)) not in tried:
            return point, space.configuration(point)
        question = question.again()
    generator = question.generator(purpose=_ELSEWHERE)
    for attempt in range(_STRAY):
        chosen = picked(question.dimensions, (attempt + 1) / _STRAY, generator)
        point = space.repaired(perturbed(space, start(question), chosen, (attempt + 1) / _STRAY, generator))
        if _key(space.configuration(point)) not in tried:
            break
    return point, space.configuration(point)


def _points(question: Question) -> list[Point]:
    return [trial.point for trial in question.reported] + [point for _, point in question.flying]


def _key(configuration: Configuration) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(configuration.items()))
