"""Bayesian optimization with a random forest: mean and deviation of 50 trees (Hutter, Hoos and Leyton-Brown 2011)."""

from __future__ import annotations

import numpy as np

from sluice.tuning.methods import improvement
from sluice.tuning.methods.improvement import Array, Predict
from sluice.tuning.methods.question import Question
from sluice.tuning.space import Point

TREES = 50


def propose(question: Question) -> Point:
    return improvement.propose(question, fit)


def fit(features: Array, losses: Array, seed: int) -> Predict:
    """Fits a model. features: (n, f) in [0, 1]. losses: (n,)."""
    from sklearn.ensemble import RandomForestRegressor

    # Each split sees a third of the features. Trees that all split alike would agree even where they have no data.
    model = RandomForestRegressor(TREES, max_features=1 / 3, min_samples_leaf=1, random_state=seed)
    model.fit(features, losses)

    def predict(at: Array) -> tuple[Array, Array]:
        trees = np.array([tree.predict(at) for tree in model.estimators_])
        return trees.mean(axis=0), trees.std(axis=0)

    return predict
