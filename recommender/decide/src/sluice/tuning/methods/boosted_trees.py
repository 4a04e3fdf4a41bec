"""Bayesian optimization with gradient-boosted regression trees (Elith, Leathwick and Hastie 2008).

Three ensembles predict the quantiles 0.16, 0.5 and 0.84 of the loss. The middle one is the mean; half the distance of
the others is the deviation, as for a normal distribution.
"""

from __future__ import annotations

import numpy as np

from sluice.tuning.methods import improvement
from sluice.tuning.methods.improvement import Array, Predict
from sluice.tuning.methods.question import Question
from sluice.tuning.space import Point

TREES, DEPTH, RATE = 30, 3, 0.2
LOWER, MIDDLE, UPPER = 0.16, 0.5, 0.84


def propose(question: Question) -> Point:
    return improvement.propose(question, fit)


def fit(features: Array, losses: Array, seed: int) -> Predict:
    """Fits a model. features: (n, f) in [0, 1]. losses: (n,)."""
    from sklearn.ensemble import GradientBoostingRegressor

    models = []
    for share in (LOWER, MIDDLE, UPPER):
        model = GradientBoostingRegressor(
            loss="quantile",
            alpha=share,
            n_estimators=TREES,
            max_depth=DEPTH,
            learning_rate=RATE,
            random_state=seed,
        )
        models.append(model.fit(features, losses))

    def predict(at: Array) -> tuple[Array, Array]:
        lower, middle, upper = (model.predict(at) for model in models)
        return middle, np.maximum(upper - lower, 0.0) / 2

    return predict
