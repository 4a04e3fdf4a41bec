"""Bayesian optimization by expected improvement, for any model with a mean and a deviation (Jones et al. 1998).

    EI(x) = (b - m) Phi(z) + s phi(z),  z = (b - m) / s,  b the least reported loss

The first trials are a scrambled Sobol sequence: a third of the budget, from 3 to 10. Then the method takes the largest
EI over 1,000 random points and 500 neighbours of the three best points. In many dimensions a random point is near none
of these. Trials in flight count as reported, with the mean that the model expects there (kriging believer, Ginsbourger
et al. 2010).

Features: an ordered parameter is one number, the middle of its cell, so that points that round to one configuration are
equal. A category or boolean is one number per choice, 0 or 1. Losses are standardized, and losses far above the median
are pulled towards it, because the size of a very bad loss carries no information.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sluice.tuning.methods.move import perturbed, picked
from sluice.tuning.methods.question import Question
from sluice.tuning.space import Point, Space

Array: TypeAlias = NDArray[np.float64]
# Features of points (n, features) -> (mean, deviation) of their losses.
Predict: TypeAlias = Callable[[Array], tuple[Array, Array]]
Fit: TypeAlias = Callable[[Array, Array, int], Predict]

RANDOM, NEAR = 1000, 500
WIDTH = 0.2
# Losses, standardized by median and spread, stay up to this value. A larger one becomes FAR x (1 + ln(loss / FAR)).
FAR = 2.0


def propose(question: Question, fit: Fit) -> Point:
    """The point of the largest expected improvement. `fit(features, losses, seed)` makes the model."""
    if question.number <= first_trials(question.budget) or len(question.reported) < 2:
        return _spread(question)
    space, generator = question.space, question.generator()
    measured = features(space, np.array([trial.point for trial in question.reported]))
    losses = tamed(np.array([trial.loss for trial in question.reported]))
    seed = int(generator.integers(2**31))
    predict = fit(measured, losses, seed)
    if question.flying:
        flying = features(space, np.array([point for _, point in question.flying]))
        believed, _ = predict(flying)
        measured, losses = np.vstack([measured, flying]), np.append(losses, believed)
        predict = fit(measured, losses, seed)
    candidates = _candidates(question, generator)
    mean, deviation = predict(features(space, candidates))
    gain = expected_improvement(mean, deviation, float(losses.min()))
    # Takes any of equal ones (a model of trees is constant in places): the first would always be a random point.
    return np.asarray(candidates[generator.choice(np.flatnonzero(gain >= gain.max() - 1e-12))], dtype=np.float64)


def first_trials(budget: int) -> int:
    return min(max(budget // 3, 3), 10)


def expected_improvement(mean: Array, deviation: Array, best: float) -> Array:
    """EI. Worked: mean 1, deviation 1, best 1: z = 0, 0.3989; mean 0, deviation 0, best 1: 1."""
    from scipy.special import ndtr

    spread = np.maximum(deviation, 1e-12)
    z = (best - mean) / spread
    return np.asarray((best - mean) * ndtr(z) + spread * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), dtype=np.float64)


def features(space: Space, points: Array) -> Array:
    """Points (n, parameters) as the model's features (n, features). A parameter without a value has its default's."""
    snapped = space.snapped(points)
    columns = []
    for index, parameter in enumerate(space.parameters):
        levels = parameter.kind.levels
        if parameter.kind.ordered or levels is None:
            columns.append(snapped[:, index : index + 1])
        else:
            cells = np.minimum((snapped[:, index] * levels).astype(int), levels - 1)
            columns.append(np.eye(levels)[cells])
    return np.hstack(columns)


def tamed(losses: Array) -> Array:
    """Standardized by the median and 1.4826 x the median absolute deviation (the mean one, where half are equal)."""
    centred = losses - np.median(losses)
    scale = 1.4826 * float(np.median(np.abs(centred))) or float(np.mean(np.abs(centred))) or 1.0
    standard = centred / scale
    return np.where(standard > FAR, FAR * (1.0 + np.log(np.maximum(standard, FAR) / FAR)), standard)


def _spread(question: Question) -> Point:
    """Point `number` of a scrambled Sobol sequence; of another sequence where the first one's point was tried
    before."""
    from scipy.stats import qmc

    sequence = qmc.Sobol(question.dimensions, rng=question.generator(0, question.attempt))
    sequence.fast_forward(question.number)
    return np.asarray(sequence.random(1)[0], dtype=np.float64)


def _candidates(question: Question, generator: np.random.Generator) -> Array:
    best = sorted(question.reported, key=lambda trial: trial.loss)[:3]
    near = []
    for index in range(NEAR):
        chosen = picked(question.dimensions, min(1.0, 3 / question.dimensions), generator)
        width = WIDTH * 0.5 ** (index % 3)
        near.append(perturbed(question.space, best[index % len(best)].point, chosen, width, generator))
    points = np.vstack([generator.random((RANDOM, question.dimensions)), near])
    tried = {tuple(row) for row in features(question.space, np.array([trial.point for trial in question.reported]))}
    fresh = [index for index, row in enumerate(features(question.space, points)) if tuple(row) not in tried]
    return points[fresh] if fresh else points
